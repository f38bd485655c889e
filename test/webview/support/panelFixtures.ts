import type { AnalyticsState, BreakdownState } from '../../../src/protocol/panels';
import { context, noon } from './fixtures';

const hour = 3_600_000;

export function breakdown(changes: Partial<BreakdownState> = {}): BreakdownState {
  return {
    panel: 'breakdown',
    session: { uuid: 's1', id: '20261122_001', title: 'Parser rewrite' },
    context: context(),
    busy: false,
    readonly: false,
    largest: [
      {
        id: 'e1',
        speaker: 'result of read_file',
        text: 'export class Tokenizer { constructor(private readonly source: string) {} next(): Token | null {',
        at: noon - 5 * hour,
        segment: 'toolResults',
        tokens: 12_400,
        pinned: false,
        canPin: true,
        canExclude: true,
      },
      {
        id: 'e2',
        speaker: 'user',
        text: 'Never on port 4000, and keep the error messages byte for byte as they are.',
        at: noon - 4 * hour,
        segment: 'history',
        tokens: 5_900,
        pinned: true,
        canPin: true,
        canExclude: true,
      },
      {
        id: 'e3',
        speaker: 'summary',
        text: '## Goal Make the tokenizer three times faster without changing its messages',
        at: noon - 3 * hour,
        segment: 'summary',
        tokens: 3_900,
        pinned: false,
        canPin: false,
        canExclude: false,
      },
      {
        id: 'e4',
        speaker: 'assistant',
        text: 'Averyveryverylongwordthathasnoplacetobreak'.repeat(4),
        at: noon - 2 * hour,
        segment: 'history',
        tokens: 90,
        pinned: false,
        canPin: true,
        canExclude: true,
      },
    ],
    excluded: [{ id: 'e9', speaker: 'call of read_file', text: 'read_file {"path":"dist/bundle.js"}', at: noon - 6 * hour }],
    timeline: {
      points: Array.from({ length: 120 }, (_, i) => ({
        position: i + 1,
        at: noon - (120 - i) * hour,
        tokens: i < 70 ? 9_000 + i * 2_300 : 20_000 + (i - 70) * 1_300,
        measured: i % 3 === 0,
      })),
      marks: [
        { kind: 'checkpoint', entry: 'k1', position: 40, at: noon - 80 * hour, tokens: 98_700 },
        { kind: 'compaction', entry: 'c1', position: 70, at: noon - 50 * hour, tokens: 20_000 },
        { kind: 'exclusion', entry: 'x1', position: 80, at: noon - 40 * hour, tokens: 30_000 },
        { kind: 'undo', entry: 'u1', position: 90, at: noon - 30 * hour, tokens: 46_000 },
      ],
    },
    compactions: [
      {
        id: 'c0',
        at: noon - 90 * hour,
        trigger: 'manual',
        method: 'summary by claude-haiku-4-5',
        messages: 40,
        tokensBefore: 90_100,
        tokensAfter: 12_000,
        durationMs: 8_200,
        heldMs: 0,
        continuity: null,
        state: 'undone',
      },
      {
        id: 'c1',
        at: noon - 50 * hour,
        trigger: 'automatic',
        method: 'summary by claude-sonnet-4-5, prepared in the background',
        messages: 142,
        tokensBefore: 168_200,
        tokensAfter: 20_000,
        durationMs: 14_000,
        heldMs: 1_200,
        continuity: { inContextPercent: 97, reachablePercent: 100, elements: 60, searched: 24 },
        state: 'live',
      },
    ],
    ...changes,
  };
}

export function analytics(changes: Partial<AnalyticsState['report']> = {}, filter: Partial<AnalyticsState['filter']> = {}): AnalyticsState {
  const spent = (requests: number, tokens: number, usd: number, requestsWithoutCost = 0) => ({
    requests,
    tokens,
    output: tokens * 0.04,
    cacheRead: tokens * 0.8,
    cost: { usd, requestsWithoutCost, requestsEstimated: 0 },
  });
  const perDay = [0, 120_000, 640_300, 88_000, 0, 1_240_000, 400];
  return {
    panel: 'analytics',
    filter: { days: 7, workspace: null, model: null, tag: null, ...filter },
    report: {
      from: '2026-11-16',
      to: '2026-11-22',
      totals: { sessionsCreated: 4, sessionsActive: 6, messages: 1_204, ...spent(310, 2_088_700, 6.4, 12) },
      days: perDay.map((tokens, i) => ({
        day: `2026-11-${16 + i}`,
        sessionsCreated: i % 2,
        sessionsActive: tokens === 0 ? 0 : (i % 3) + 1,
        messages: Math.round(tokens / 1_700),
        ...spent(Math.ceil(tokens / 7_000), tokens, tokens / 300_000),
      })),
      sessions: [
        {
          uuid: 's1',
          id: '20261122_001',
          title: 'Parser rewrite',
          cwd: '/work/parser',
          tags: ['work', 'parser'],
          createdAt: noon,
          messages: 612,
          contentTokens: 140_300,
          ...spent(200, 1_500_000, 4.9),
        },
        {
          uuid: 's2',
          id: '20261121_002',
          title: '',
          cwd: '/work/site',
          tags: [],
          createdAt: noon,
          messages: 40,
          contentTokens: 9_000,
          ...spent(30, 588_700, 0, 30),
        },
        {
          uuid: 's3',
          id: '20261104_001',
          title: 'Why is the cache cold after every deployment on Mondays?',
          cwd: null,
          tags: [],
          createdAt: noon,
          messages: 2,
          contentTokens: 300,
          ...spent(0, 0, 0),
        },
      ],
      moreSessions: 3,
      models: [
        { provider: 'anthropic', model: 'claude-sonnet-4-5', input: 90_000, cacheWrite: 300_000, ...spent(280, 1_900_000, 6.4) },
        { provider: 'ollama', model: 'qwen3-coder:30b', input: 180_000, cacheWrite: 0, ...spent(30, 188_700, 0, 30) },
      ],
      compactions: {
        count: 5,
        undone: 1,
        tokensBefore: 640_000,
        tokensAfter: 61_000,
        savedTokens: 579_000,
        durationMs: 71_000,
        heldMs: 1_200,
        cost: { usd: 0.2, requestsWithoutCost: 0, requestsEstimated: 0 },
        byRung: [
          { rung: 'prepared', count: 3, savedTokens: 450_000 },
          { rung: 'extractive', count: 1, savedTokens: 129_000 },
        ],
      },
      returns: {
        count: 12,
        again: 410_000,
        cost: { usd: 1.54, requestsWithoutCost: 0, requestsEstimated: 0 },
        folded: 8,
        saved: 320_000,
        savedCost: { usd: 1.2, requestsWithoutCost: 0, requestsEstimated: 0 },
      },
      nudges: {
        delivered: 9,
        acted: 6,
        byPercent: [
          { percent: 50, delivered: 5, acted: 4 },
          { percent: 75, delivered: 4, acted: 2 },
        ],
      },
      choices: {
        workspaces: ['/work/parser', '/work/site'],
        models: ['anthropic/claude-sonnet-4-5', 'ollama/qwen3-coder:30b'],
        tags: ['parser', 'work'],
      },
      ...changes,
    },
  };
}

export const noAnalytics = analytics({
  totals: {
    sessionsCreated: 0,
    sessionsActive: 0,
    messages: 0,
    requests: 0,
    tokens: 0,
    output: 0,
    cacheRead: 0,
    cost: { usd: 0, requestsWithoutCost: 0, requestsEstimated: 0 },
  },
  days: analytics().report.days.map((day) => ({ ...day, sessionsCreated: 0, sessionsActive: 0, messages: 0, tokens: 0, requests: 0 })),
  sessions: [],
  moreSessions: 0,
  models: [],
  compactions: {
    count: 0,
    undone: 0,
    tokensBefore: 0,
    tokensAfter: 0,
    savedTokens: 0,
    durationMs: 0,
    heldMs: 0,
    cost: { usd: 0, requestsWithoutCost: 0, requestsEstimated: 0 },
    byRung: [],
  },
  returns: {
    count: 0,
    again: 0,
    cost: { usd: 0, requestsWithoutCost: 0, requestsEstimated: 0 },
    folded: 0,
    saved: 0,
    savedCost: { usd: 0, requestsWithoutCost: 0, requestsEstimated: 0 },
  },
  nudges: { delivered: 0, acted: 0, byPercent: [] },
  choices: { workspaces: [], models: [], tags: [] },
});

/** The first day of somebody who has just begun. */
export const oneSession = ((): AnalyticsState => {
  const { report } = analytics();
  const [session] = report.sessions;
  const spent = {
    requests: 1,
    tokens: 9_400,
    output: 380,
    cacheRead: 0,
    cost: { usd: 0.03, requestsWithoutCost: 0, requestsEstimated: 0 },
  };
  return analytics({
    ...noAnalytics.report,
    totals: { sessionsCreated: 1, sessionsActive: 1, messages: 2, ...spent },
    days: noAnalytics.report.days.map((day, i) =>
      i === 6 ? { ...day, sessionsCreated: 1, sessionsActive: 1, messages: 2, ...spent } : day,
    ),
    sessions: [{ ...session!, messages: 2, contentTokens: 400, ...spent }],
    models: [{ provider: 'anthropic', model: 'claude-sonnet-4-5', input: 9_020, cacheWrite: 0, ...spent }],
    choices: { workspaces: ['/work/parser'], models: ['anthropic/claude-sonnet-4-5'], tags: [] },
  });
})();

/** 500 sessions in a year, of 40 folders, 12 models and 60 tags. */
export const yearOfSessions = ((): AnalyticsState => {
  const { report } = analytics();
  const day = (i: number) => new Date(Date.UTC(2025, 10, 23) + i * 86_400_000).toISOString().slice(0, 10);
  return analytics(
    {
      from: day(0),
      to: day(364),
      totals: { ...report.totals, sessionsCreated: 500, sessionsActive: 500, messages: 184_200, requests: 41_300, tokens: 912_000_000 },
      days: Array.from({ length: 365 }, (_, i) => ({
        ...report.days[i % 7]!,
        day: day(i),
        sessionsActive: (i * 7) % 11,
        tokens: ((i * 7919) % 97) * 90_000,
      })),
      sessions: Array.from({ length: 10 }, (_, i) => ({
        ...report.sessions[i % 3]!,
        uuid: `y${i}`,
        id: `20261122_${String(i + 1).padStart(3, '0')}`,
      })),
      moreSessions: 490,
      models: Array.from({ length: 12 }, (_, i) => ({
        ...report.models[i % 2]!,
        model: `model-${i}-with-a-name-as-some-gateways-have-them`,
      })),
      choices: {
        workspaces: Array.from({ length: 40 }, (_, i) => `/home/ada/work/customers/a-long-name-of-a-customer/project-${i}`),
        models: Array.from({ length: 12 }, (_, i) => `gateway/model-${i}-with-a-name-as-some-gateways-have-them`),
        tags: Array.from({ length: 60 }, (_, i) => `tag-${i}`),
      },
    },
    { days: 365 },
  );
})();
