import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import { parseSlash } from '../../../../src/protocol/slashCommands';
import { SlashRunner, type SlashRunnerDeps } from '../../../../src/vscode/composer/slashRunner';

describe('commands behind a slash', () => {
  const calls: unknown[] = [];
  const call =
    (name: string) =>
    async (...args: unknown[]) =>
      void calls.push([name, ...args]);
  const info = (id: string, name: string, provider = 'anthropic') => ({
    provider,
    id,
    name,
    window: 1,
    maxOutput: 1,
    source: 'table' as const,
  });
  let message: string | null = null;
  let isNothing = false;
  const deps: SlashRunnerDeps = {
    controller: {
      compact: async (instructions = null) => (calls.push(['compact', instructions]), { entry: null, message, isNothing }),
      active: { newSession: call('newSession'), addressee: 'session' },
      feed: { focusComposer: () => calls.push(['focus']) },
      renameSession: call('renameSession'),
      choices: { setModel: call('setModel'), setPolicy: call('setPolicy'), setThinkingLevel: call('setThinkingLevel') },
    },
    models: {
      listAll: async () => ({
        models: [
          info('claude-sonnet-5-5', 'Claude Sonnet 5.5'),
          info('claude-sonnet-5-5-long', 'Claude Sonnet 5.5 Long'),
          info('llama3.1:8b', 'llama3.1:8b', 'ollama'),
          info('same', 'Same'),
          info('same', 'Same', 'openai-compatible'),
        ],
        silent: ['vscode'],
      }),
    },
    run: call('run'),
    undo: () => Promise.reject(new Error('There is no compaction to undo.')),
    pin: async () => false,
    switchMode: call('switchMode'),
    openHelp: call('openHelp'),
  };
  const runner = new SlashRunner(deps);
  beforeEach(() => {
    calls.length = 0;
    message = null;
  });

  it('take what follows them instead of asking, and ask without it', async () => {
    await runner.run('compact', 'keep the ports');
    await runner.run('compact', '');
    await runner.run('rename', 'Tides');
    await runner.run('rename', '');
    await runner.run('policy', 'Goose');
    await runner.run('search', 'port 8080');
    await runner.run('model', 'claude-sonnet-5-5');
    await runner.run('model', 'Llama3.1:8b');
    await runner.run('model', 'openai-compatible/same');
    await runner.run('plan', '');
    await runner.run('thinking', 'High');
    await runner.run('thinking', 'automatic');
    await runner.run('ask', 'What is a tide?');
    await runner.run('new', '');
    await runner.run('help', '');
    deepStrictEqual(calls, [
      ['compact', 'keep the ports'],
      ['compact', null],
      ['renameSession', 'Tides'],
      ['run', 'renameSession'],
      ['focus'],
      ['setPolicy', { preset: 'goose' }],
      ['run', 'searchHistory', ['port 8080']],
      ['setModel', 'anthropic/claude-sonnet-5-5', 'session'],
      ['setModel', 'ollama/llama3.1:8b', 'session'],
      ['setModel', 'openai-compatible/same', 'session'],
      ['switchMode'],
      ['setThinkingLevel', 'high'],
      ['setThinkingLevel', null],
      ['run', 'askWithoutHistory', ['What is a tide?']],
      ['newSession'],
      ['focus'],
      ['openHelp'],
    ]);
  });

  it('say why nothing was done', async () => {
    message = 'There is nothing to compact.';
    await rejects(runner.run('compact', ''), /There is nothing to compact\./, 'as what has failed');
    isNothing = true;
    strictEqual(await runner.run('compact', ''), 'There is nothing to compact.');
    await rejects(runner.run('undo', ''), /There is no compaction to undo\./);
    await rejects(runner.run('policy', 'best'), /There is no policy “best”\. There are balanced, /);
    await rejects(
      runner.run('model', 'opus'),
      /There is no model “opus” where there was an answer; VS Code language models did not answer\./,
    );
    await rejects(runner.run('model', 'same'), /could be anthropic\/same, openai-compatible\/same\./);
    await rejects(runner.run('thinking', 'deep'), /There is no thinking level “deep”\. There are automatic, off, /);
    await rejects(runner.run('model', 'sonnet'), /could be claude-sonnet-5-5, claude-sonnet-5-5-long\./);
    await rejects(runner.run('pin', 'port 8080'), /pinned already/);
  });

  it('name what may follow while it is typed, of every provider, what is typed whole first', async () => {
    const values = async (...typed: Parameters<SlashRunner['complete']>) => (await runner.complete(...typed)).map(({ value }) => value);
    deepStrictEqual(await values('model', ''), [
      'anthropic/claude-sonnet-5-5',
      'anthropic/claude-sonnet-5-5-long',
      'ollama/llama3.1:8b',
      'anthropic/same',
      'openai-compatible/same',
    ]);
    deepStrictEqual(await values('model', 'ollama'), ['ollama/llama3.1:8b']);
    deepStrictEqual(await values('model', 'openai-compatible/same'), ['openai-compatible/same']);
    deepStrictEqual(await values('policy', 'goose'), ['goose', 'goose-conservative', 'goose-aggressive']);
    deepStrictEqual(await values('thinking', 'hi'), ['high']);
    deepStrictEqual(await values('compact', 'x'), []);
  });

  it('are words behind a slash at the very beginning, nothing else', () => {
    deepStrictEqual(['/compact', '/compact  keep\nthis ', ' /compact', '/usr/bin', 'a /compact', '/'].map(parseSlash), [
      { name: 'compact', argument: '' },
      { name: 'compact', argument: 'keep\nthis' },
      null,
      null,
      null,
      null,
    ]);
  });
});
