import { UriDouble, windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual } from 'node:assert';
import { openFolders, uriOf, workspacePath } from '../../../../src/vscode/tools/openFolders';

describe('the folders of a window', () => {
  const openWith = (...given: (readonly [name: string, uri: { readonly scheme: string; readonly path: string }])[]) => {
    const workspaceFolders = given.map(([name, uri], index) => ({ name, uri, index }));
    windowDouble.workspace = {
      workspaceFolders,
      getWorkspaceFolder: ({ path }: UriDouble) => workspaceFolders.find(({ uri }) => path === uri.path || path.startsWith(`${uri.path}/`)),
      // As VS Code writes it: two folders of the same name are not told apart.
      asRelativePath: ({ path }: UriDouble) => {
        const folder = workspaceFolders.find(({ uri }) => path.startsWith(`${uri.path}/`));
        const inner = path.slice((folder?.uri.path.length ?? -1) + 1);
        return workspaceFolders.length > 1 ? `${folder?.name}/${inner}` : inner;
      },
    };
  };

  it('say which of them are on no disk, where a path says nothing about this machine', () => {
    if (process.platform === 'win32') return;
    openWith(['here', UriDouble.file('/work/project')], ['there', { scheme: 'vscode-vfs', path: '/work/project' }]);
    deepStrictEqual(openFolders(), [
      { name: 'here', root: '/work/project' },
      { name: 'there', root: '/work/project', isOffDisk: true },
    ]);
  });

  it('give every file a path of its own that leads back to it', () => {
    const there = (path: string) => [
      workspacePath(UriDouble.file(path) as never),
      uriOf(workspacePath(UriDouble.file(path) as never) ?? '')?.path,
    ];
    openWith(['web', UriDouble.file('/shop/web')], ['web', UriDouble.file('/admin/web')], ['Front end', UriDouble.file('/shop/site')]);
    deepStrictEqual(['/shop/web/src/a.ts', '/admin/web/src/a.ts', '/shop/site/src/a.ts', '/admin/web'].map(there), [
      ['web (shop)/src/a.ts', '/shop/web/src/a.ts'],
      ['web (admin)/src/a.ts', '/admin/web/src/a.ts'],
      ['Front end/src/a.ts', '/shop/site/src/a.ts'],
      ['web (admin)', '/admin/web'],
    ]);
    deepStrictEqual(workspacePath(UriDouble.file('/elsewhere/a.ts') as never), null);
    openWith(['web', UriDouble.file('/shop/web')]);
    deepStrictEqual(there('/shop/web/src/a.ts'), ['src/a.ts', '/shop/web/src/a.ts']);
  });
});
