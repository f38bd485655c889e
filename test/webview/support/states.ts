import { bannerStates } from './bannerStates';
import { contextStates } from './contextStates';
import { assistant, context, conversation, missingKey, noon, running, snapshot, tool, user } from './fixtures';
import { answer, talk, type ViewState } from './viewState';

const queue = [
  { id: 'q1', text: 'Then run the whole benchmark again and compare with last week.' },
  { id: 'q2', text: 'And commit.' },
];
const plan = 'The loop copies every token.\n\n## Plan\n\n1. Intern the names in `src/parser/tokens.ts`.\n2. Measure again.';

/** Every state worth looking at. */
export const states: readonly ViewState[] = [
  { name: 'first-run', options: { snapshot: snapshot({ session: null, sessions: [], context: null, connection: missingKey }) } },
  {
    name: 'empty',
    options: {
      snapshot: snapshot({
        context: context({
          used: 9400,
          turnsLeft: null,
          compactions: 0,
          segments: [
            { kind: 'system', tokens: 2400 },
            { kind: 'tools', tokens: 7000 },
            { kind: 'reserved', tokens: 10_192 },
          ],
        }),
      }),
    },
  },
  {
    name: 'offline',
    options: {
      snapshot: snapshot({
        connection: { ...missingKey, offlineChosen: true },
        rows: [
          user('u1', 'What did we decide about retries?'),
          assistant(
            'a1',
            'Two entries mention **retries**:\n\n- 14 Nov: *at most three, with jitter*\n- 15 Nov: *never after a tool call*',
            { model: 'Offline' },
          ),
        ],
      }),
    },
  },
  { name: 'answer', options: { snapshot: snapshot({ rows: talk }), height: 1100 } },
  {
    name: 'expanded',
    options: { snapshot: snapshot({ rows: talk.slice(0, 4) }), state: { session: 's1', anchor: null, expanded: ['t1', 'c2'] } },
  },
  {
    name: 'branches',
    options: {
      snapshot: snapshot({
        rows: talk,
        marks: [
          { id: 'u1', label: 'tokenizer speed', fork: { at: 1, branches: ['x', 'u1', 'y'] }, beyond: [] },
          { id: 't1', label: null, fork: { at: 0, branches: ['t1', 'z'] }, beyond: [] },
        ],
      }),
    },
  },
  { name: 'branch-left', options: { snapshot: snapshot({ rows: talk.slice(0, 3), left: { messages: 12, summarizing: false } }) } },
  {
    name: 'editing-a-message',
    options: { snapshot: snapshot({ rows: talk.slice(0, 3) }) },
    act: (view) => view.button('Edit your message').click(),
  },
  {
    name: 'streaming',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 3),
        live: [
          { id: 'l1', kind: 'thinking', model: 'Claude Sonnet 4.5', text: 'Compare both.' },
          { id: 'l2', kind: 'assistant', model: 'Claude Sonnet 4.5', text: `${answer.slice(0, 420)}` },
        ],
        turn: running('streaming'),
        queue,
      }),
    },
  },
  {
    name: 'queue-editing',
    options: { snapshot: snapshot({ rows: talk.slice(0, 3), turn: running('streaming'), queue }) },
    act: (view) => view.find('.queue li:last-child .queue-edit').click(),
  },
  {
    name: 'approvals',
    options: {
      snapshot: snapshot({
        rows: [
          ...talk.slice(0, 1),
          tool('c1', {
            name: 'edit_file',
            input: '{"path":"src/parser/tokens.ts"}',
            status: 'running',
            output: null,
            hasDiff: true,
            approval: { title: 'Edit src/parser/tokens.ts', detail: null, everyTime: false, lasting: true, change: null },
          }),
          tool('c2', {
            name: 'run_command',
            input: '{"command":"npm test"}',
            status: 'running',
            output: null,
            approval: {
              title: 'Run a command in the workspace',
              detail: 'npm test -- --grep tokenizer && node scripts/measure.js --iterations 200 --verbose',
              everyTime: true,
              lasting: false,
              change: null,
            },
          }),
          tool('c3', {
            name: 'run_command',
            input: '{"command":"npm run bench"}',
            status: 'running',
            output: 'run 1: 1.2 M tokens/s\nrun 2: 1.3 M tokens/s\n',
          }),
          tool('c4', { name: 'create_file', input: '{"path":"notes.md"}', status: 'denied', output: 'The user did not allow this call.' }),
        ],
        turn: running('tools'),
      }),
      state: { session: 's1', anchor: null, expanded: ['c3'] },
    },
  },
  { name: 'waiting', options: { snapshot: snapshot({ rows: talk.slice(0, 1), turn: running('waiting') }) } },
  {
    name: 'retrying',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        turn: running('retrying', { retry: { attempt: 2, at: noon + 4000, reason: 'overloaded' } }),
      }),
      now: noon,
    },
  },
  {
    name: 'interrupted',
    options: {
      snapshot: snapshot({
        rows: [
          user('u1', 'Explain'),
          assistant('a1', 'The first half of', { interrupted: 'stopped' }),
          user('u2', 'Again'),
          assistant('a2', 'The first', { interrupted: 'disconnected' }),
          user('u3', 'And again'),
          assistant('a3', 'The first half of the answer', { interrupted: 'crashed' }),
          { kind: 'error', id: 'e1', at: noon, reason: 'network', text: 'The connection to the provider was lost.' },
        ],
      }),
    },
  },
  {
    name: 'bad-key',
    options: {
      snapshot: snapshot({
        rows: [
          user('u1', 'Hello'),
          { kind: 'error', id: 'e1', at: noon, reason: 'bad_key', text: 'The API key was not accepted. It may have been revoked.' },
        ],
      }),
    },
  },
  {
    name: 'sessions',
    options: { snapshot: snapshot({ rows: talk.slice(0, 1) }), now: noon + 60_000 },
    act: async (view) => {
      await view.button('Sessions').click();
      await view.find('.session-item').first().waitFor();
    },
  },
  {
    name: 'renaming',
    options: { snapshot: snapshot({ rows: talk.slice(0, 1) }) },
    act: async (view) => {
      await view.find('.title-button').click();
      await view.find('.rename').waitFor();
    },
  },
  {
    name: 'drafting',
    options: { snapshot: snapshot({ rows: talk.slice(0, 1), draft: 'A draft\nof several lines\nthat makes the box grow\nas it should' }) },
    act: (view) => view.find('textarea').focus(),
  },
  {
    name: 'request-failed',
    options: { snapshot: snapshot({ rows: talk.slice(0, 1) }) },
    act: async (view) => {
      await view.page.evaluate(() => (window.fake.refuse['new_session'] = 'The history is read-only in this window.'));
      await view.button('New session').click();
      await view.find('.problem').waitFor();
    },
  },
  {
    name: 'reading-back',
    options: { snapshot: snapshot({ rows: conversation(40) }) },
    act: async (view) => {
      await view.find('.scroller').hover();
      await view.page.mouse.wheel(0, -900);
      await view.find('.jump').waitFor();
    },
  },
  {
    name: 'fault',
    options: { snapshot: snapshot({ rows: talk.slice(0, 2) }) },
    act: async (view) => {
      await view.page.evaluate(() => {
        const gauge = document.querySelector('tk-gauge') as HTMLElement & { render(): unknown; requestUpdate(): void };
        gauge.render = () => {
          throw new Error('provoked');
        };
        gauge.requestUpdate();
      });
      await view.find('.fault').waitFor();
      view.expectedFaults = 1;
    },
  },
  {
    name: 'todo-list',
    options: {
      snapshot: snapshot({
        rows: talk,
        todos: [
          { text: 'Measure the tokenizer with the fixture of the issue', status: 'done' },
          { text: 'Intern the names, so that equal names are the same string', status: 'in_progress' },
          { text: 'Measure again', status: 'pending' },
        ],
      }),
    },
    act: (view) => view.find('.todos-head').click(),
  },
  { name: 'plan-ready', options: { snapshot: snapshot({ rows: [...talk.slice(0, 2), assistant('a1', plan)], mode: 'plan' }) } },
  ...contextStates,
  ...bannerStates,
];
