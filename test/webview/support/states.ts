import { unknownCache } from '../../../src/core/context/measure/snapshot';
import type { View, ViewOptions } from './openView';
import { assistant, compaction, context, conversation, missingKey, noon, running, snapshot, tool, user } from './fixtures';

export interface ViewState {
  readonly name: string;
  readonly options: ViewOptions;
  /** Brings the view into the state after it has loaded. */
  readonly act?: (view: View) => Promise<void>;
}

const recovered = {
  kind: 'recovered' as const,
  text: 'Your history was damaged. What could be read of it is here.',
  details:
    '3 sessions with 1,204 entries were brought over; not readable: the content of 1 entry. The damaged file was kept as /home/me/.config/Code/User/globalStorage/stores/5c0ffee/threadkeeper.db.damaged-20261122T120000Z.',
  dismissAs: 'recovered: 1',
};

const answer = [
  'The tokenizer reads each character **once**, so the cost is linear. Two things slow it down:',
  '',
  '1. `slice` in the inner loop copies every token.',
  '2. The keyword table is searched with a regular expression.',
  '',
  '```ts',
  '// Interned, so that equal names are the same string.',
  'const names = new Map<string, number>();',
  '',
  'export function intern(name: string): number {',
  '  const known = names.get(name) ?? names.size + 1; // 1, 2, 3 …',
  '  names.set(name, known);',
  '  return known;',
  '}',
  '```',
  '',
  '| variant | tokens/s | memory |',
  '|---|---:|---:|',
  '| slice | 1.2 M | 48 MB |',
  '| interned | 3.9 M | 11 MB |',
  '',
  '> Measured on the fixture of the issue.',
  '',
  'More in [the notes](https://example.org/notes).',
].join('\n');

const queue = [
  { id: 'q1', text: 'Then run the whole benchmark again and compare with last week.' },
  { id: 'q2', text: 'And commit.' },
];
const plan = 'The loop copies every token.\n\n## Plan\n\n1. Intern the names in `src/parser/tokens.ts`.\n2. Measure again.';

const talk = [
  user('u1', 'Why is the tokenizer slow on large files? Please measure before you change anything.'),
  { kind: 'thinking' as const, id: 't1', at: noon, text: 'The loop *slices* for every token.', durationMs: 4200, folded: false },
  tool('c1'),
  tool('c2', {
    name: 'run_command',
    input: '{"command":"npm run bench -- tokenizer --iterations 200"}',
    status: 'error',
    output: 'Error: no such benchmark',
  }),
  assistant('a1', answer),
];

const folded = [
  ...conversation(4).map((row) => ({ ...row, folded: true })),
  user('k1', 'Now the parser. Keep the error messages as they are.'),
  assistant('k2', 'Understood: the messages stay **byte for byte**.'),
];

const price = (written: number, cost: number) => ({ read: 0, written, fresh: 0, cost });
const next = { expects: 'warm', warm: price(2_100, 0.01), cold: price(50_100, 0.19), folded: price(9_000, 0.03), full: null } as const;
const warm = { ...unknownCache, state: 'warm', until: noon, time: '5m', held: 48_000, next } as const;
const expired = {
  ...warm,
  state: 'cold',
  held: 0,
  rewrites: 48_000,
  matters: true,
  whenCold: 'ask',
  next: { ...next, expects: 'cold' },
} as const;

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
  {
    name: 'context-full',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        turn: running('preparing'),
        full: { used: 192_000, effective: 200_000, fits: false },
        queue: [{ id: 'q1', text: 'And then the parser.' }],
      }),
    },
  },
  { name: 'waiting', options: { snapshot: snapshot({ rows: talk.slice(0, 1), turn: running('waiting') }) } },
  {
    name: 'compaction',
    options: {
      snapshot: snapshot({
        rows: [...folded, compaction('x1', { note: 'The summariser did not answer in time; a better summary is being made.' })],
        context: context({
          used: 24_100,
          segments: [
            { kind: 'system', tokens: 2400 },
            { kind: 'tools', tokens: 6100 },
            { kind: 'summary', tokens: 3900 },
            { kind: 'history', tokens: 11_700 },
            { kind: 'reserved', tokens: 10_192 },
          ],
          turnsLeft: 31,
        }),
      }),
      state: { session: 's1', anchor: null, expanded: ['x1'] },
    },
  },
  {
    name: 'compactions',
    options: {
      snapshot: snapshot({
        rows: [
          ...conversation(2),
          user('p1', 'Never on port 4000.', { pinned: true }),
          assistant('p2', 'Noted: never on port 4000.', { pinned: true }),
          compaction('x0', { state: 'replaced', rung: 'truncate', model: null }),
          { kind: 'checkpoint', id: 'k1', at: noon, tokens: 50_200, model: null, summary: 'Ports are counted upwards.' },
          compaction('x1', { state: 'superseded', rung: 'extractive', model: null }),
          compaction('x2', { state: 'undone', rung: 'prepared' }),
          { kind: 'undo', id: 'n1', at: noon, tokensRestored: 164_300 },
          {
            kind: 'nudge',
            id: 'n2',
            at: noon,
            percent: 50,
            usedTokens: 100_400,
            text: 'Save what must not be lost.',
            outcome: 'acted',
            writes: [
              { call: 'w1', path: 'decisions.md', command: 'create', hasDiff: true },
              { call: 'w2', path: 'project/open-work.md', command: 'delete', hasDiff: false },
            ],
          },
          {
            kind: 'nudge',
            id: 'n3',
            at: noon,
            percent: 75,
            usedTokens: 150_900,
            text: 'Save what must not be lost.',
            outcome: 'expired',
            writes: [],
          },
          { kind: 'info', id: 'n4', at: noon, text: 'The model was changed to Claude Haiku 4.5.' },
        ],
      }),
    },
  },
  {
    name: 'compacting',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        turn: running('compacting', { startedAt: noon - 12_000 }),
        context: context({ used: 171_200, nextEvent: { kind: 'limit', inTokens: 18_000 }, turnsLeft: 1 }),
      }),
      now: noon,
    },
  },
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
    name: 'readonly',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: { kind: 'readonly', text: 'Another window has this history open. Here it can be read but not changed.' },
      }),
    },
  },
  {
    name: 'store-failed',
    options: {
      snapshot: snapshot({
        context: null,
        session: null,
        banner: { kind: 'store_failed', text: 'The history file could not be opened. Nothing has been changed in it.' },
      }),
    },
  },
  {
    name: 'untrusted',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'untrusted',
          text: 'This workspace is not trusted: nothing in it is changed or run.',
          details: 'Its files are read at most.',
          dismissAs: 'untrusted',
        },
      }),
    },
  },
  { name: 'recovered', options: { snapshot: snapshot({ rows: talk.slice(0, 1), banner: recovered }) } },
  {
    name: 'damaged',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'damaged',
          text: 'Part of your history is damaged.',
          details: '1 entry does not say what was written: entry #3 of session 20261122_001.',
        },
      }),
    },
  },
  {
    name: 'policy',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'policy',
          text: 'The policy of this session cannot be used as it is; the policy balanced is in use. threadkeeper.context.policy: "goosey" (of this session) is not a policy.',
        },
      }),
    },
  },
  {
    name: 'reduced-durability',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'reduced_durability',
          text: 'Your history is saved in a slower and less robust way here.',
          details: 'The file system did not pass the self-test.',
          dismissAs: 'reduced',
        },
      }),
    },
  },
  {
    name: 'over-limit',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        context: context({
          used: 204_600,
          provenance: 'exact',
          segments: [
            { kind: 'system', tokens: 2400 },
            { kind: 'history', tokens: 190_000 },
            { kind: 'toolResults', tokens: 12_200 },
            { kind: 'reserved', tokens: 10_192 },
          ],
          nextEvent: null,
          turnsLeft: 0,
        }),
      }),
    },
  },
  {
    name: 'gauge-card',
    options: { snapshot: snapshot({ rows: talk.slice(0, 1) }) },
    act: async (view) => {
      await view.find('.gauge-label').click();
      await view.find('.gauge-card').waitFor();
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
    name: 'cache-warm',
    options: { snapshot: snapshot({ rows: talk, context: context({ cache: warm }) }) },
    act: (view) => view.find('.gauge-label').click(),
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
  { name: 'cache-expired', options: { snapshot: snapshot({ rows: talk, context: context({ cache: expired }) }) } },
];
