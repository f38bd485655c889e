import { unknownCache } from '../../../src/core/context/measure/snapshot';
import type { Delta, TranscriptRow, ViewSnapshot } from '../../../src/protocol/messages';

type Context = NonNullable<ViewSnapshot['context']>;
type Row<K extends TranscriptRow['kind']> = TranscriptRow & { kind: K };

/** 22 November 2026, 12:00 UTC. */
export const noon = Date.UTC(2026, 10, 22, 12);

export function snapshot(changes: Partial<ViewSnapshot> = {}): ViewSnapshot {
  return {
    session: { uuid: 's1', id: '20261122_001', title: 'Parser rewrite' },
    sessions: [
      { uuid: 's1', id: '20261122_001', title: 'Parser rewrite', updatedAt: noon },
      { uuid: 's2', id: '20261121_002', title: 'Release checklist', updatedAt: noon - 86_400_000 },
      {
        uuid: 's3',
        id: '20261104_001',
        title: 'Why is the cache cold after every deployment on Mondays?',
        updatedAt: noon - 18 * 86_400_000,
      },
    ],
    rows: [],
    marks: [],
    hasMore: false,
    live: [],
    turn: null,
    queue: [],
    left: null,
    full: null,
    context: context(),
    connection: { provider: 'anthropic', modelName: 'Claude Sonnet 4.5', key: 'stored', offlineChosen: false },
    banner: null,
    draft: '',
    ...changes,
  };
}

export const missingKey: ViewSnapshot['connection'] = { provider: 'offline', modelName: 'Offline', key: 'missing', offlineChosen: false };

export function context(changes: Partial<Context> = {}): Context {
  return {
    sessionId: 's1',
    branchLeafId: 'a1',
    model: 'anthropic/claude-sonnet-4-5',
    policy: 'balanced',
    window: 200_000,
    effective: 200_000,
    reserve: 10_192,
    limit: 189_808,
    used: 84_100,
    provenance: 'estimated',
    segments: [
      { kind: 'system', tokens: 2400 },
      { kind: 'tools', tokens: 6100 },
      { kind: 'memory', tokens: 900 },
      { kind: 'summary', tokens: 3900 },
      { kind: 'history', tokens: 52_300 },
      { kind: 'toolResults', tokens: 18_300 },
      { kind: 'draft', tokens: 200 },
      { kind: 'reserved', tokens: 10_192 },
    ],
    thresholds: [
      { kind: 'nudge', percent: 50, tokens: 100_000, state: 'ahead' },
      { kind: 'nudge', percent: 75, tokens: 150_000, state: 'ahead' },
      { kind: 'compaction', percent: 85, tokens: 170_000, state: 'ahead' },
      { kind: 'limit', percent: 95, tokens: 189_808, state: 'ahead' },
    ],
    nextEvent: { kind: 'nudge', inTokens: 15_900 },
    turnsLeft: 9,
    compactions: 1,
    cache: unknownCache,
    summarizing: false,
    updatedAt: noon,
    ...changes,
  };
}

export function user(id: string, text: string, changes: Partial<Row<'user'>> = {}): Row<'user'> {
  return { kind: 'user', id, at: noon, text, folded: false, excerpted: false, pinned: false, excluded: false, ...changes };
}

export function assistant(id: string, markdown: string, changes: Partial<Row<'assistant'>> = {}): Row<'assistant'> {
  return {
    kind: 'assistant',
    id,
    at: noon,
    markdown,
    model: 'Claude Sonnet 4.5',
    folded: false,
    pinned: false,
    excluded: false,
    interrupted: null,
    ...changes,
  };
}

export function tool(id: string, changes: Partial<Row<'tool'>> = {}): Row<'tool'> {
  return {
    kind: 'tool',
    id,
    at: noon,
    name: 'read_file',
    title: 'Read src/parser/tokens.ts',
    input: '{\n  "path": "src/parser/tokens.ts"\n}',
    output: 'export const tokens = [];',
    approval: null,
    hasDiff: false,
    status: 'ok',
    folded: false,
    excluded: false,
    ...changes,
  };
}

export function compaction(id: string, changes: Partial<Row<'compaction'>> = {}): Row<'compaction'> {
  return {
    kind: 'compaction',
    id,
    at: noon,
    messages: 142,
    tokensBefore: 168_200,
    tokensAfter: 3900,
    rung: 'model',
    trigger: 'automatic',
    durationMs: 14_200,
    model: 'Claude Haiku 4.5',
    note: null,
    summary: '## Where it stands\n\n- The **tokenizer** is done; `parseExpression` is next.\n- Rule: no regular expressions in hot paths.',
    continuity: { inContextPercent: 97.2, reachablePercent: 100, elements: 214, searched: 24 },
    unknownIds: [],
    coversFrom: 'r0',
    state: 'live',
    reusable: false,
    ...changes,
  };
}

/** A long session, oldest first: questions and answers with a little code now and then. */
export function conversation(count: number): TranscriptRow[] {
  return Array.from({ length: count }, (_, i) =>
    i % 2 === 0
      ? user(`r${i}`, `Question ${i}: what does step ${i} of the migration do, and does it need a backup first?`)
      : assistant(
          `r${i}`,
          i % 10 === 9
            ? `Step ${i} rewrites the index:\n\n\`\`\`ts\nawait store.rewrite(${i});\nawait store.verify();\n\`\`\`\n\nIt keeps the old one.`
            : `Answer ${i}. It copies the **rows** of batch ${i}, then checks the counts. No backup is needed for it.`,
        ),
  );
}

export const liveText = (id: string, text: string, block: 'assistant' | 'thinking' = 'assistant'): Delta => ({
  kind: 'live_text',
  id,
  block,
  model: 'Claude Sonnet 4.5',
  text,
});

export const running = (
  phase: NonNullable<ViewSnapshot['turn']>['phase'],
  changes: Partial<NonNullable<ViewSnapshot['turn']>> = {},
): NonNullable<ViewSnapshot['turn']> => ({ id: 't1', phase, startedAt: Date.now(), retry: null, ...changes });
