import { deepEqual, ok, throws } from 'node:assert/strict';
import { join, normalize, sep } from 'node:path';
import * as fc from 'fast-check';
import { checkNotePath } from '../../../src/core/memory/notes';

describe('paths of notes', () => {
  it('are relative, with or without the folder models write in front', () => {
    const given = [
      'a.md',
      '/memories/a.md',
      '/memories/b/c.txt',
      ' b/c ',
      'Été.md',
      'E\u0301te\u0301.md',
      'memories/a.md',
      'a..b.md',
      'con-notes.md',
      '%2e%2e%2fa',
    ];
    deepEqual(
      given.map((path) => checkNotePath(path, 'file')),
      ['a.md', 'a.md', 'b/c.txt', 'b/c', 'Été.md', 'Été.md', 'memories/a.md', 'a..b.md', 'con-notes.md', '%2e%2e%2fa'],
    );
    deepEqual(
      ['', '/', '/memories', '/memories/', '.', 'b/', '/memories/b/'].map((path) => checkNotePath(path, 'file or folder')),
      ['', '', '', '', '', 'b', 'b'],
    );
  });

  const refused = [
    '',
    '/memories',
    '..',
    '../a',
    'a/../b',
    'a/..',
    '/memories/../a',
    '/memories/../../etc/passwd',
    './a',
    'a/./b',
    '/etc/passwd',
    '//server/share',
    '~/a',
    '~',
    'C:/a',
    'c:a',
    '..\\a',
    'a\\b',
    '\\\\server\\share',
    'a//b',
    'a\0b',
    'a\nb',
    'a\tb',
    '.hidden',
    'a/.git/config',
    'a.',
    'a. /b',
    'a /b',
    'a:b',
    'a*',
    'a?',
    '<a>',
    'a|b',
    'a"b',
    'con',
    'CON',
    'con.md',
    'nul.tar.gz',
    'a/aux',
    'COM1',
    'com1.txt',
    'lpt9',
    'LPT¹.md',
    'prn ',
    'CON .md',
    'conin$',
    '\ud800.md',
    'a\u202egpj.md',
    'x'.repeat(201),
    '漢'.repeat(67),
    'a/b/c/d/e/f/g',
    `${'x/'.repeat(5)}${'y'.repeat(195)}`,
  ];
  for (const path of refused)
    it(`refuse ${JSON.stringify(path).slice(0, 40)}`, () =>
      throws(() => checkNotePath(path, 'file'), /^Error: The path ".*" is not allowed: /s));

  it('never leave the folder, whatever is asked for', () => {
    const part = fc.constantFrom('..', '.', '/', '\\', 'a', '/memories', '~', 'C:', ' ', '\0', '%2e', '．．', '∕', 'con', '');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
        (given) => {
          let path: string;
          try {
            path = checkNotePath(given, 'file');
          } catch {
            return;
          }
          ok(normalize(join('root', path)).startsWith(`root${sep}`), path);
          ok(checkNotePath(path, 'file') === path);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
