import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programs, type ProgramStatus } from '../../../../src/core/transfer/programs';
import { agentStates, sizeText, unsearchedText } from '../../../../src/vscode/agents/agentStates';
import { projectRoot } from '../../../support/paths';

const found = (id: 'codex' | 'cursor' | 'zed' | 'aider') => ({ id, sources: 1, bytes: 1, newest: 1, roots: ['/r'] });
const status = (id: 'codex' | 'zed' | 'aider', more: Partial<ProgramStatus> = {}): ProgramStatus => ({
  id,
  sources: 1,
  bytes: 1,
  waiting: 0,
  sessions: 0,
  problems: [],
  ...more,
});

describe('how other agents stand', () => {
  it('says what is off, still being read, or could not be', () => {
    const states = agentStates(
      [found('codex'), found('cursor'), found('zed'), found('aider')],
      ['codex', 'zed', 'aider'],
      [status('codex'), status('zed', { waiting: 3 }), status('aider', { problems: [{ source: '/a', reason: 'It is a link.' }] })],
    );
    deepStrictEqual(
      states.map(({ name, state, text, problems }) => [name, state, text, problems]),
      [
        ['Codex CLI', 'watched', 'watched', []],
        ['Cursor', 'off', 'not watched', []],
        ['Zed', 'reading', 'being read: 3 left', []],
        ['aider', 'unread', 'watched, not all of it could be read', ['/a: It is a link.']],
      ],
    );
    deepStrictEqual(unsearchedText(states), 'Cursor: not watched · Zed: still being read · aider: not all of it could be read');
  });

  it('says nothing where everything was searched', () => {
    deepStrictEqual(unsearchedText(agentStates([found('codex')], ['codex'], [status('codex')])), null);
  });

  it('tells sizes in words', () => {
    deepStrictEqual([10, 300_000, 3_500_000, 40_000_000, 3_000_000_000].map(sizeText), ['1 KB', '293 KB', '3.3 MB', '38 MB', '2.8 GB']);
  });

  it('can be watched, each by its name, as the setting offers them', () => {
    interface Offered {
      readonly items: { readonly enum: readonly string[]; readonly enumItemLabels: readonly string[] };
    }
    const { contributes } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      contributes: { configuration: readonly { properties: Readonly<Record<string, Offered>> }[] };
    };
    const offered = contributes.configuration.flatMap(({ properties }) => properties['threadkeeper.agents.watch'] ?? []);
    deepStrictEqual(
      offered.map(({ items }) => items.enum.map((id, at) => ({ id, name: items.enumItemLabels[at] }))),
      [programs.map(({ id, name }) => ({ id, name }))],
    );
  });
});
