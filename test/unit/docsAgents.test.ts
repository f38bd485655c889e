import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { handoverPrograms } from '../../src/core/transfer/handover/handoverPrograms';
import { programOf, programs } from '../../src/core/transfer/programs';
import { agentPrograms } from '../../src/node/mcp/connect/agentPrograms';
import { places } from '../../src/node/transfer/watch/places';
import { agentDrivers } from '../support/agents/agentDrivers';
import { projectRoot } from '../support/paths';

const page = readFileSync(join(projectRoot, 'docs', 'agents.md'), 'utf8').replaceAll('\n', ' ');
const machine = { home: '/home/me', platform: 'linux', env: {}, folders: ['/work'] } as const;
const listed = (text: string | undefined) => (text ?? '').split(/, (?:and )?| and /).sort();

describe('the page about agents', () => {
  it('names every program that can be watched, by the way it is', () => {
    const cells = (way: string) => new RegExp(`\\| ([^|]+) \\| ${way}`).exec(page)?.[1];
    const watched = (type: string) =>
      programs.filter(({ id }) => places[id](machine).some(({ way }) => way.type === type)).map(({ name }) => String(name));
    deepStrictEqual(
      ['lines that are appended', 'the file, whenever', 'the sessions of its database'].map((way) =>
        listed(cells(way)?.replace('Copilot Chat in VS Code', 'Copilot Chat').replace('OpenClaw from 2026.8.1', 'OpenClaw')),
      ),
      ['lines', 'whole', 'database'].map((type) => watched(type).sort()),
    );
  });

  it('names every program that can be connected', () => {
    deepStrictEqual(
      listed(/Connect an Agent…\*: (.+?)\. It shows/.exec(page)?.[1]),
      agentPrograms(machine)
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('says how much each program is told, and by what it goes on', () => {
    const rows = [...page.matchAll(/\| ([^|]+) \| (`[^|]+`) \| ([\d,]+)(?: tokens)? (?=\|)/g)];
    deepStrictEqual(
      rows.map(([, ...cells]) => cells),
      handoverPrograms.map(({ id, tokens, resume }) => [
        programOf(id)!.name,
        resume('ID', 'FILE')
          .map((words) => `\`${words.join(' ')}\``)
          .join(', then '),
        tokens.toLocaleString('en'),
      ]),
    );
  });

  it('names the versions that are tried', () => {
    const tried = [...page.matchAll(/(Codex CLI|Gemini CLI|Qwen Code|Copilot CLI|opencode) (\d+\.\d+\.\d+)/g)];
    const installed = (name: string) =>
      agentDrivers
        .find(({ program }) => programOf(program)?.name === name)
        ?.install.packages[0]?.split('@')
        .at(-1);
    deepStrictEqual(
      tried.map(([, name, version]) => [name, version]),
      ['Codex CLI', 'Gemini CLI', 'Qwen Code', 'Copilot CLI', 'opencode'].map((name) => [name, installed(name)]),
    );
  });
});
