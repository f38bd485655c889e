import { deepStrictEqual, ok } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { projectRoot } from '../support/paths';

/** These files join the features with each other, so they are nobody's neighbours. */
const isJoin = (file: string) => /^src\/(extension\.ts|composition\/|vscode\/commandRouter\.ts)/.test(file);
const mostFiles = 20;

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
  /** It is an `import()`. */
  readonly later: boolean;
}

const files = ['src', 'webview-ui', 'test'].flatMap((root) =>
  readdirSync(join(projectRoot, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${root}/${name.replaceAll('\\', '/')}`),
);
const imports = files.flatMap(importsOf);

describe('the layout', () => {
  it(`has no folder with more than ${mostFiles} loose files`, () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    deepStrictEqual(
      [...counts].filter(([, count]) => count > mostFiles),
      [],
    );
  });

  it('has a line in the code map for every folder, and no other', () => {
    const [map = ''] = readFileSync(join(projectRoot, 'docs/architecture.md'), 'utf8')
      .split(/^## /m)
      .filter((part) => part.startsWith('Code map'));
    deepStrictEqual(
      [...map.matchAll(/^\| `((?:src|webview-ui)(?:\/[^`]+)?)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, folder]) => folder).sort(),
      [...new Set(files.map((file) => dirname(file)))].filter((folder) => !folder.startsWith('test')).sort(),
    );
  });

  // A rule of the linter says the same and took 24 seconds over the tree, a third of all linting.
  it('has no circle of imports, of types or of values', () => {
    const targets = new Map(files.map((file) => [file, imports.filter(({ from, later }) => from === file && !later)]));
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) return void circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file)) return;
      for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    deepStrictEqual(circles, []);
  });

  it('keeps a file of src/vscode that does not import vscode beside what uses it, or loose when several features use it', () => {
    const plain = files.filter(
      (file) => file.startsWith('src/vscode/') && !imports.some(({ from, to }) => from === file && to === 'vscode'),
    );
    ok(plain.length > 20, 'the files are found');
    deepStrictEqual(
      plain.filter((file) => !isAtHome(file)),
      [],
    );
  });
});

function isAtHome(file: string): boolean {
  const users = imports.filter(({ from, to }) => to === file && from.startsWith('src/'));
  const feature = featureOf(file);
  if (feature === '') return isJoin(file) || new Set(users.map(({ from }) => featureOf(from))).size > 1;
  if (users.some(({ from }) => featureOf(from) === feature)) return true;
  // Where a feature is joined to the others, another one may still know a type of it.
  const values = users.filter(({ typeOnly }) => !typeOnly);
  return values.length > 0 && values.every(({ from }) => isJoin(from));
}

/** The first folder below src/vscode; empty for a loose file. */
function featureOf(file: string): string {
  return /^src\/vscode\/([^/]+)\//.exec(file)?.[1] ?? '';
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(projectRoot, file), 'utf8');
  return [...text.matchAll(/^import (type )?[^'"]*from '([^']+)'|\bimport\('([^']+)'\)/gm)].map(([, type, fixed, later]) => {
    const target = fixed ?? later ?? '';
    return {
      from: file,
      to: target.startsWith('.') ? `${normalize(join(dirname(file), target)).replaceAll('\\', '/')}.ts` : target,
      typeOnly: type !== undefined,
      later: later !== undefined,
    };
  });
}
