import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Behaviour, Design } from '../../unit/seeds/behaviours/behaviour';
import { goclaw } from '../../unit/seeds/behaviours/goclaw';
import { goose } from '../../unit/seeds/behaviours/goose';
import { librecode } from '../../unit/seeds/behaviours/librecode';
import { sessionManagement } from '../../unit/seeds/behaviours/sessionManagement';
import { structuredState } from '../../unit/seeds/behaviours/structuredState';
import { projectRoot } from '../paths';

export const designs: readonly Design[] = [goose, goclaw, structuredState, sessionManagement, librecode];

export const seedsReferenceFile = join(projectRoot, 'docs', 'seeds.md');

/** A test that a behaviour names, with its whole title. */
export interface NamedTest {
  /** Below the root of the project. */
  readonly file: string;
  readonly title: string;
}

/** The one test of a suite whose title begins so. Throws when there is none, or more than one. */
export async function namedTest(name: string): Promise<NamedTest> {
  const at = name.indexOf(': ');
  const [suite, start] = [name.slice(0, at), name.slice(at + 2)];
  const file = ['test/unit', 'test'].map((root) => `${root}/${suite}.test.ts`).find((path) => existsSync(join(projectRoot, path)));
  if (file === undefined) throw new Error(`There is no suite ${suite}: ${name}`);
  const titles = [...(await readFile(join(projectRoot, file), 'utf8')).matchAll(/\bit\(\s*(['`"])((?:\\.|(?!\1)[^\\])*)\1/g)].map(
    ([, , title]) => title!.replaceAll("\\'", "'"),
  );
  const found = [...new Set(titles.filter((title) => title.startsWith(start)))];
  if (found.length !== 1) throw new Error(`${found.length === 0 ? 'No test' : 'More than one test'} of ${file} begins with “${start}”.`);
  return { file, title: found[0]! };
}

/** docs/seeds.md: every behaviour of the five designs with the tests that drive it. */
export async function seedsReference(): Promise<string> {
  const parts = await Promise.all(
    designs.map(async ({ seed, name, behaviours }) =>
      [`## ${seed}: ${name}`, '', '| | behaviour | tests |', '|--:|---|---|', ...(await Promise.all(behaviours.map(row))), ''].join('\n'),
    ),
  );
  const all = designs.flatMap(({ behaviours }) => behaviours);
  const missing = all.filter((one) => one.missing !== undefined).length;
  return `# The five designs, behaviour by behaviour

Threadkeeper began with five designs for sessions and contexts. This is what each of them does, and the tests that drive it here: ${all.length - missing} of
${all.length} behaviours. \`npm run docs\` writes this page from \`test/unit/seeds/behaviours\`, and a test checks it.

${parts.join('\n')}`;
}

async function row({ number, says, tests, missing }: Behaviour): Promise<string> {
  const named = await Promise.all(tests.map(namedTest));
  const cells = named.map(({ file, title }) => `\`${file.replace(/^test\//, '').replace(/\.test\.ts$/, '')}\`: ${cell(title)}`);
  return `| ${number} | ${cell(says)} | ${missing === undefined ? cells.join('<br>') : `**missing.** ${cell(missing)}`} |`;
}

/** A title may have a place for what it is repeated with. */
function cell(text: string): string {
  return text
    .replace(/\$\{[^}]*\}/g, '…')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;');
}
