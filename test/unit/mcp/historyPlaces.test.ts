import assert from 'node:assert/strict';
import { join } from 'node:path';
import { registryFolders } from '../../../src/node/mcp/historyPlaces';

describe('where the histories of a person are looked for', () => {
  const storage = join('User', 'globalStorage', 'threadkeeper.threadkeeper');
  /** Of the first editor, and of the first server. */
  const places = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}) => {
    const folders = registryFolders('/home/ada', platform, env);
    assert.equal(new Set(folders).size, 10);
    return [folders[0], folders[7]];
  };
  const server = join('/home/ada', '.vscode-server', 'data', storage);

  it('in the user folders of editors, where each system keeps them, and of servers for remote windows', () => {
    assert.deepEqual(
      [
        places('linux'),
        places('linux', { XDG_CONFIG_HOME: '/conf', APPDATA: '/no' }),
        places('darwin', { XDG_CONFIG_HOME: '/no' }),
        places('win32'),
        places('win32', { APPDATA: '/roaming', XDG_CONFIG_HOME: '/no' }),
      ],
      [
        [join('/home/ada/.config/Code', storage), server],
        [join('/conf/Code', storage), server],
        [join('/home/ada/Library/Application Support/Code', storage), server],
        [join('/home/ada/AppData/Roaming/Code', storage), server],
        [join('/roaming/Code', storage), server],
      ],
    );
  });
});
