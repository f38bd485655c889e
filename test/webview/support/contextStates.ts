import { unknownCache } from '../../../src/core/context/measure/snapshot';
import { assistant, compaction, context, conversation, noon, running, snapshot, user } from './fixtures';
import { talk, type ViewState } from './viewState';

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

/** Gauge, compactions and the prompt cache. */
export const contextStates: readonly ViewState[] = [
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
    name: 'cache-warm',
    options: { snapshot: snapshot({ rows: talk, context: context({ cache: warm }) }) },
    act: (view) => view.find('.gauge-label').click(),
  },
  { name: 'cache-expired', options: { snapshot: snapshot({ rows: talk, context: context({ cache: expired }) }) } },
];
