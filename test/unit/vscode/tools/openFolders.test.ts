import { UriDouble, windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual } from 'node:assert';
import { openFolders } from '../../../../src/vscode/tools/vscodeWorkspace';

describe('the folders of a window', () => {
  it('say which of them are on no disk, where a path says nothing about this machine', () => {
    if (process.platform === 'win32') return;
    windowDouble.workspace = {
      workspaceFolders: [
        { name: 'here', index: 0, uri: UriDouble.file('/work/project') },
        { name: 'there', index: 1, uri: { scheme: 'vscode-vfs', path: '/work/project' } },
      ],
    };
    deepStrictEqual(openFolders(), [
      { name: 'here', root: '/work/project' },
      { name: 'there', root: '/work/project', isOffDisk: true },
    ]);
  });
});
