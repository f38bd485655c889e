import { deepStrictEqual } from 'node:assert';
import { isEphemeral } from '../../../../src/node/store/client/ephemeralStorage';

const container = `1432 1309 0:227 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/var/lib/docker/a - not a field
1433 1432 0:230 / /proc rw,nosuid - proc proc rw
1434 1432 0:231 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755
1460 1432 254:1 /docker/volumes/home/_data /home/me/.vscode-server rw,relatime - ext4 /dev/vda1 rw
1461 1432 254:1 /work /workspaces/tide\\040tables rw,relatime shared:1 - ext4 /dev/vda1 rw
`;
const machine = '28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n40 28 0:35 / /tmp rw - tmpfs tmpfs rw\n';

describe('storage that goes with its container', () => {
  it('is told from the mounts', () => {
    const folders: [string, string][] = [
      ['/root/.vscode-server/data/User/workspaceStorage/1', container],
      ['/home/me/.vscode-server/data/User/workspaceStorage/1', container],
      ['/home/me/.vscode-server-insiders/data', container],
      ['/workspaces/tide tables/.data', container],
      ['/dev/shm/data', container],
      ['/home/me/.vscode-server/data', machine],
      ['/tmp/data', machine],
      ['/home/me', ''],
      ['/home/me', 'nonsense\n - \n'],
    ];
    deepStrictEqual(
      folders.map(([folder, mounts]) => isEphemeral(folder, mounts)),
      [true, false, true, false, true, false, true, false, false],
    );
  });
});
