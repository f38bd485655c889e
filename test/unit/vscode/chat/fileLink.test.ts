import { deepStrictEqual } from 'node:assert';
import { fileLink } from '../../../../src/vscode/composer/fileLink';

describe('the file that a link means', () => {
  it('is found however the line is written', () => {
    const links = [
      'src/a.ts',
      './src/a.ts#L12',
      'src/a.ts#12-20',
      'src/a.ts#L12-L20',
      'src/a.ts:12',
      'src/a.ts:12:3',
      'file:///tides/my%20notes.md:7',
      '/tides/src/a.ts',
      'a.ts:3',
      'C:\\tides\\a.ts:4',
    ];
    deepStrictEqual(
      links.map((href) => fileLink(href)).map((link) => link && `${link.path} ${link.line}`),
      [
        'src/a.ts null',
        'src/a.ts 12',
        'src/a.ts 12',
        'src/a.ts 12',
        'src/a.ts 12',
        'src/a.ts 12',
        '/tides/my notes.md 7',
        '/tides/src/a.ts null',
        'a.ts 3',
        'C:/tides/a.ts 4',
      ],
    );
  });

  it('says where it leads before anybody asks whether that is in the workspace', () => {
    const links = [
      '/tides/../../etc/passwd',
      'file:///tides/../etc/passwd',
      '/tides/%2e%2e/etc/passwd',
      '/tides/..\\etc\\passwd',
      'C:\\tides\\..\\x',
      'src/../../x',
      './日本.md:5',
      'my%20file.ts:3',
    ];
    deepStrictEqual(
      links.map((href) => fileLink(href)?.path),
      ['/etc/passwd', '/etc/passwd', '/etc/passwd', '/etc/passwd', 'C:/x', '../x', '日本.md', 'my file.ts'],
    );
  });

  it('is none for other addresses', () => {
    const links = [
      'command:workbench.action.quit',
      'javascript:alert(1)',
      'vscode://file/x',
      'data:text/html,x',
      '//host/share',
      'file://host/share',
      '#L3',
      '',
      '%zz',
    ];
    deepStrictEqual(
      links.map(fileLink),
      links.map(() => null),
    );
  });
});
