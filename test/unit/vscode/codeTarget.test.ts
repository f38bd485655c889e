import assert from 'node:assert/strict';
import { commandLines, namedCode, withCode } from '../../../src/vscode/composer/codeTarget';

describe('code of an answer', () => {
  it('belongs to the file that its fence or its first line names', () => {
    const path = (info: string, text = 'let a;\n') => namedCode(info, text).path;
    assert.deepEqual(
      [
        path('ts src/a.ts'),
        path('ts:src/a.ts'),
        path('ts title="src/a.ts"'),
        path('{.ts file=src/a.ts}'),
        path('src/a.ts'),
        path('ts'),
        path('c++'),
        path('ts', '// src/a.ts\nlet a;'),
        path('html', '<!-- web/index.html -->\n<p>'),
        path('python', '# The first reading is high.\nx = 1'),
        path('ts', "import a from './a.ts';"),
        path('diff', '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-a\n+b\n'),
      ],
      [...Array<string>(5).fill('src/a.ts'), null, null, 'src/a.ts', 'web/index.html', null, null, 'src/a.ts'],
    );
    assert.deepEqual(namedCode('ts', '// src/a.ts\nlet a;\n'), { path: 'src/a.ts', text: 'let a;\n' });
    assert.deepEqual(namedCode('ts', '// src/a.ts'), { path: 'src/a.ts', text: '' });
  });

  it('takes the place of a selection, of the lines that it begins and ends with, or of the whole file that it names', () => {
    const before = 'one\r\nfunction a() {\r\n  1;\r\n}\r\nend\r\n';
    const at = { isDiff: false, isNamed: true, from: 0, to: 0 };
    assert.deepEqual(
      [
        withCode(before, 'X\nY', { ...at, to: 3 }),
        withCode(before, 'function a() {\n  2;\n}', at),
        withCode(before, 'all\nnew', at),
        withCode(before, 'put in ', { ...at, isNamed: false }),
        withCode('a\nb\nc\n', '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', { ...at, isDiff: true }),
        withCode('x\n', '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', { ...at, isDiff: true }),
      ],
      [
        'X\r\nY\r\nfunction a() {\r\n  1;\r\n}\r\nend\r\n',
        'one\r\nfunction a() {\r\n  2;\r\n}\r\nend\r\n',
        'all\r\nnew\r\n',
        `put in ${before}`,
        'a\nB\nc\n',
        null,
      ],
    );
  });

  it('gives a shell what stands behind the prompts of a transcript', () => {
    assert.deepEqual(
      [
        commandLines('$ npm test\n\n> passed\n', 'console'),
        commandLines('$ npm ci\n$ npm test', 'bash'),
        commandLines('npm ci\necho $ a\n', 'bash'),
        commandLines(' \n', 'sh'),
      ],
      ['npm test', 'npm ci\nnpm test', 'npm ci\necho $ a', ''],
    );
  });
});
