import { deepStrictEqual, ok, throws } from 'node:assert';
import { posix, win32 } from 'node:path';
import * as fc from 'fast-check';
import { ToolFault } from '../../../src/core/tools/tool';
import { distinctNames, placeName, toPlace, type WorkspaceFolder } from '../../../src/core/tools/guard/workspacePath';

const one: WorkspaceFolder[] = [{ name: 'project', root: '/home/me/project' }];
const windows: WorkspaceFolder[] = [{ name: 'project', root: 'C:/Work/project' }];
const two: WorkspaceFolder[] = [
  { name: 'app', root: '/w/app' },
  { name: 'lib', root: '/w/app/packages/lib' },
];

/** Strings that look like paths more often than chance would have it. */
const pathLike = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '/',
        '\\',
        '../',
        '..\\',
        '~',
        'a',
        'src',
        'C:',
        'c:',
        '//',
        '\0',
        ' ',
        '.. ',
        '...',
        ':',
        '%2e%2e',
        'file://',
        '\u2025',
        '\uff0e\uff0e',
        'home/me/project',
        '/home/me/project',
        'con',
        'x.txt:s',
      ),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('paths of the workspace', () => {
  it('are what they are called, however they are written', () => {
    for (const given of [
      'src/a.ts',
      './src/a.ts',
      'src//a.ts',
      'src\\a.ts',
      ' src/b/../a.ts ',
      '/home/me/project/src/a.ts',
      '/home/me/../me/project/src/a.ts',
    ])
      deepStrictEqual(toPlace(given, one), { folder: 0, path: 'src/a.ts' }, given);
    deepStrictEqual(toPlace('c:\\work\\PROJECT\\src\\a.ts', windows), { folder: 0, path: 'src/a.ts' });
    for (const given of ['', '.', './', '/home/me/project', 'src/..']) deepStrictEqual(toPlace(given, one), { folder: 0, path: '' }, given);
    deepStrictEqual(
      [toPlace('app/x', two), toPlace('lib/x', two), toPlace('/w/app/packages/lib/x', two), toPlace('/w/app/packages/x', two)],
      [
        { folder: 0, path: 'x' },
        { folder: 1, path: 'x' },
        { folder: 1, path: 'x' },
        { folder: 0, path: 'packages/x' },
      ],
    );
    deepStrictEqual(
      [placeName({ folder: 1, path: 'x' }, two), placeName({ folder: 0, path: '' }, two), placeName({ folder: 0, path: '' }, one)],
      ['lib/x', 'app', '.'],
    );
  });

  it('outside of the folders are refused in words', () => {
    for (const given of [
      '..',
      '../x',
      'src/../../x',
      '/etc/passwd',
      '/home/me/project-2/x',
      '/home/me/project/../x',
      'C:\\x',
      '\\\\server\\share\\x',
    ]) {
      throws(
        () => toPlace(given, one),
        (error) => ToolFault.is(error) && /outside of the workspace/.test(error.message),
        given,
      );
    }
    throws(() => toPlace('src/x', two), /begins with the name of one: app, lib/);
    throws(() => toPlace('x', []), /No folder is open/);
    throws(() => toPlace('a\0b', one), /zero/);
    for (const given of ['NUL', 'src/con.txt', 'a.txt:stream', 'a./b', 'x?']) throws(() => toPlace(given, windows), ToolFault, given);
    for (const given of ['.. /x', '...', 'a/ . /b']) throws(() => toPlace(given, one), /dots and blanks/, given);
  });

  it('never lead out, whatever is written', () => {
    const inside = (root: string, path: string, join: typeof posix | typeof win32) => {
      const relative = join.relative(root, join.resolve(root, ...path.split('/')));
      return relative === '' || (!relative.startsWith('..') && !join.isAbsolute(relative)) || /^\.\.[^\\/]/.test(relative);
    };
    let accepted = 0;
    fc.assert(
      fc.property(pathLike, fc.constantFrom(one, windows, two), (given, folders) => {
        let place;
        try {
          place = toPlace(given, folders);
        } catch (error) {
          ok(ToolFault.is(error));
          return;
        }
        accepted++;
        const { root } = folders[place.folder]!;
        ok(
          place.path.split('/').every((name) => name !== '..' && name !== '.' && (name !== '' || place.path === '')),
          JSON.stringify(place),
        );
        ok(inside(root, place.path, folders === windows ? win32 : posix), `${JSON.stringify(given)} → ${JSON.stringify(place)}`);
      }),
      { numRuns: 20_000 },
    );
    ok(accepted > 2_000, `${accepted}`);
  });

  it('name a place by a path that leads to it again', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.stringMatching(/^[a-z0-9_.-]{1,8}$/).filter((name) => !/^[. ]+$/.test(name)),
          { minLength: 1, maxLength: 4 },
        ),
        fc.nat(1),
        (names, folder) => {
          const place = { folder, path: names.join('/') };
          deepStrictEqual(toPlace(placeName(place, two), two), place);
        },
      ),
    );
  });

  it('begin with a name that no other folder has, and that a path can begin with', () => {
    const named = (...folders: (readonly [string, string])[]) =>
      distinctNames(folders.map(([name, root]) => ({ name, root }))).map(({ name }) => name);
    deepStrictEqual(named(['ui', '/h/v1/packages/ui'], ['ui', '/h/v2/packages/ui'], ['ui', '/h/other/ui'], ['app', '/h/app']), [
      'ui (v1-packages)',
      'ui (v2-packages)',
      'ui (other)',
      'app',
    ]);
    deepStrictEqual(named(['apps/web', '/h/apps/web'], ['apps-web', '/h/old'], ['libs\\ui', '/h/libs/ui']), [
      'apps-web (apps)',
      'apps-web',
      'libs-ui',
    ]);
    deepStrictEqual(named(['x', '/x'], ['x', '/a/x'], ['..', '/h/up'], [' ', '/h/blank'], ['c:', '/h/drive']), [
      'x 1',
      'x (a)',
      '(..)',
      '()',
      'c-',
    ]);
    const name = fc.oneof(
      fc.constantFrom('a', 'b', 'a/b', 'a-b', 'a\\b', 'a (a)', 'a (b)', 'a (a-a)', 'a (b-a)', 'a 1', 'a (a) 2', '.', '..', '', ' a', 'c:x'),
      fc.string({ maxLength: 3 }).filter((text) => !text.includes('\0')),
    );
    const root = fc
      .array(fc.constantFrom('a', 'b', 'a-a', 'a\\b'), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.map((part) => `/${part}`).join(''));
    fc.assert(
      fc.property(fc.array(fc.record({ name, root }), { minLength: 2, maxLength: 6 }), (folders) => {
        const distinct = distinctNames(folders);
        for (const folder of folders.keys())
          for (const path of ['', 'src/x.ts']) deepStrictEqual(toPlace(placeName({ folder, path }, distinct), distinct), { folder, path });
      }),
      { numRuns: 2_000 },
    );
  });
});
