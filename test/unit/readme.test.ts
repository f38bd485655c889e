import { deepStrictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { presetNames } from '../../src/core/context/policy/resolvePolicy';
import { handoverPrograms } from '../../src/core/transfer/handover/handoverPrograms';
import { programOf } from '../../src/core/transfer/programs';
import { projectRoot } from '../support/paths';

interface Property {
  readonly default: unknown;
  readonly tags?: readonly string[];
}

const read = (name: string) => readFileSync(join(projectRoot, name), 'utf8');
const readme = read('README.md');
const manifest = JSON.parse(read('package.json')) as {
  readonly engines: { readonly vscode: string; readonly node: string };
  readonly contributes: { readonly configuration: readonly { readonly properties: Readonly<Record<string, Property>> }[] };
};
const numbers: readonly string[] = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** The cells of the rows of the one table in a section. */
function rows(title: string): string[][] {
  const section = readme.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? '';
  return [...section.matchAll(/^\| (.*) \|$/gm)].map(([, cells]) => cells!.split(/\s*\|\s*/));
}

describe('README', () => {
  it('names the ten settings that stand in front, with their defaults', () => {
    const properties = manifest.contributes.configuration.flatMap(({ properties }) => Object.entries(properties));
    const named = (value: unknown): string => {
      if (typeof value === 'boolean') return value ? 'on' : 'off';
      return value === '' || (Array.isArray(value) && value.length === 0)
        ? ''
        : typeof value === 'number'
          ? `${value}`
          : `\`${String(value)}\``;
    };
    const special: Readonly<Record<string, string>> = { 'threadkeeper.model': 'automatic', 'threadkeeper.ollama.baseUrl': 'this machine' };
    deepStrictEqual(
      Object.fromEntries(
        rows('Settings')
          .slice(1)
          .map(([name = '', value]) => [name.replaceAll('`', ''), value]),
      ),
      Object.fromEntries(
        properties.flatMap(([name, { tags, default: value }]) =>
          tags?.includes('advanced') ? [] : [[name, special[name] ?? named(value)]],
        ),
      ),
    );
  });

  it('says how many there are of what it counts', () => {
    const count = (pattern: RegExp) => pattern.exec(readme)?.[1];
    deepStrictEqual(
      {
        programs: count(/in one of (\w+) other programs/),
        policies: count(/how the context is managed: one of (\w+)/),
        lines: count(/## Architecture in (\w+) lines/),
        vscode: count(/In VS Code \(([\d.]+) or newer\)/),
        node: count(/Node ([\d.]+) or newer/),
      },
      {
        programs: numbers[handoverPrograms.length],
        policies: numbers[presetNames.length],
        lines: numbers[[...readme.matchAll(/^\d+\. /gm)].length],
        vscode: /[\d]+\.[\d]+/.exec(manifest.engines.vscode)![0],
        node: /[\d]+\.[\d]+/.exec(manifest.engines.node)![0],
      },
    );
  });

  it('names every command of the command line once', () => {
    const help = execFileSync(process.execPath, [join(projectRoot, 'dist', 'cli.js'), '--help'], { encoding: 'utf8' });
    deepStrictEqual(
      rows('Without VS Code')
        .flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name))
        .sort(),
      [...help.matchAll(/^ {2}threadkeeper ([a-z][a-z-]*) /gm)].map(([, name]) => name).sort(),
    );
  });

  it('has as many marks in each row of its table as there are programs', () => {
    const [head = [], ...body] = rows('Beside others');
    deepStrictEqual(
      body.filter((cells) => cells.length !== head.length || cells.slice(1).some((cell) => !/^[●◐○?][¹²³⁴]?$/.test(cell))),
      [],
    );
  });

  it('tells the same of handing over as the page about agents', () => {
    const page = read('docs/agents.md');
    deepStrictEqual(
      [...page.matchAll(/^\| ([^|]+) \| `[^|]+\| (?:is told at most|[\d,]+)(?: tokens)? \|$/gm)].map(([, name]) => name),
      handoverPrograms.map(({ id }) => programOf(id)?.name),
    );
  });
});
