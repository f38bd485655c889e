import { deepStrictEqual } from 'node:assert';
import { mentionGlob, rankPaths } from '../../../src/core/mentions/rankPaths';

const paths = ['src/tide.js', 'src/tides/index.js', 'test/Tide.test.js', 'src/cli.js', 'docs/high-tide.md', 'README.md'];

describe('files for a mention', () => {
  const found = (query: string, limit = 10) => rankPaths(paths, query, limit).map(({ kind, path }) => `${kind} ${path}`);

  it('puts names that begin with the query first, then those that contain it, then paths; folders among them', () => {
    deepStrictEqual(found('tide'), [
      'folder src/tides',
      'file src/tide.js',
      'file test/Tide.test.js',
      'file docs/high-tide.md',
      'file src/tides/index.js',
    ]);
    deepStrictEqual(found('TIDE.JS'), ['file src/tide.js']);
  });

  it('takes a query with slashes as parts of a path, one behind the other', () => {
    deepStrictEqual(found('src/ti'), ['file src/tide.js', 'file src/tides/index.js']);
    deepStrictEqual(found('ti/src'), []);
  });

  it('offers files, no folders, without a query, and never more than the limit', () => {
    deepStrictEqual(found('', 2), ['file README.md', 'file src/cli.js']);
    deepStrictEqual(rankPaths([], 'x', 5), []);
  });

  it('takes a path with more folders than a call takes arguments', () => {
    const deep = `${'a/'.repeat(200_000)}b`;
    deepStrictEqual(rankPaths([deep], 'a', 2), [
      { path: 'a', kind: 'folder' },
      { path: 'a/a', kind: 'folder' },
    ]);
  });

  it('takes each folder once, tells folders apart by case, and finds the end of a path', () => {
    const twice = ['a/Lib/x.ts', 'a/lib/y.ts', 'a/lib/z.ts', 'b/lib/lib/x.ts'];
    deepStrictEqual(
      rankPaths(twice, 'lib', 9).map(({ kind, path }) => `${kind} ${path}`),
      [
        'folder a/Lib',
        'folder a/lib',
        'folder b/lib',
        'folder b/lib/lib',
        'file a/Lib/x.ts',
        'file a/lib/y.ts',
        'file a/lib/z.ts',
        'file b/lib/lib/x.ts',
      ],
    );
    deepStrictEqual(rankPaths(['\u0130x/sub/deep/x.ts', '/lib/y'], 'sub/deep', 1), [{ path: '\u0130x/sub/deep', kind: 'folder' }]);
    deepStrictEqual(rankPaths(['/lib/y'], 'lib', 9), [
      { path: '/lib', kind: 'folder' },
      { path: '/lib/y', kind: 'file' },
    ]);
  });

  it('asks the search for any case, and for nothing that has a meaning of its own in a glob', () => {
    deepStrictEqual(mentionGlob(''), '**/*');
    deepStrictEqual(mentionGlob('a/B1'), '{**/*[aA]*/**/*[bB]1*,**/*[aA]*/**/*[bB]1*/**}');
    deepStrictEqual(mentionGlob('[x]{*}!'), '{**/*?[xX]?????*,**/*?[xX]?????*/**}');
  });
});
