import type { BreakdownState } from '../../../src/protocol/panels';
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
      { id: 'e1', speaker: 'result of read_file', text: 'export class Tokenizer { constructor(private readonly source: string) {} next(): Token | null {', at: noon - 5 * hour, segment: 'toolResults', tokens: 12_400, pinned: false, canPin: true },
      { id: 'e2', speaker: 'user', text: 'Never on port 4000, and keep the error messages byte for byte as they are.', at: noon - 4 * hour, segment: 'history', tokens: 5_900, pinned: true, canPin: true },
      { id: 'e3', speaker: 'summary', text: '## Goal Make the tokenizer three times faster without changing its messages', at: noon - 3 * hour, segment: 'summary', tokens: 3_900, pinned: false, canPin: false },
      { id: 'e4', speaker: 'assistant', text: 'Averyveryverylongwordthathasnoplacetobreak'.repeat(4), at: noon - 2 * hour, segment: 'history', tokens: 90, pinned: false, canPin: true },
    ],
    timeline: {
      points: Array.from({ length: 120 }, (_, i) => ({ position: i + 1, at: noon - (120 - i) * hour, tokens: i < 70 ? 9_000 + i * 2_300 : 20_000 + (i - 70) * 1_300, measured: i % 3 === 0 })),
      marks: [
        { kind: 'checkpoint', entry: 'k1', position: 40, at: noon - 80 * hour, tokens: 98_700 },
        { kind: 'compaction', entry: 'c1', position: 70, at: noon - 50 * hour, tokens: 20_000 },
        { kind: 'undo', entry: 'u1', position: 90, at: noon - 30 * hour, tokens: 46_000 },
      ],
    },
    compactions: [
      { id: 'c0', at: noon - 90 * hour, trigger: 'manual', method: 'summary by claude-haiku-4-5', messages: 40, tokensBefore: 90_100, tokensAfter: 12_000, durationMs: 8_200, heldMs: 0, continuity: null, state: 'undone' },
      { id: 'c1', at: noon - 50 * hour, trigger: 'automatic', method: 'summary by claude-sonnet-4-5, prepared in the background', messages: 142, tokensBefore: 168_200, tokensAfter: 20_000, durationMs: 14_000, heldMs: 1_200, continuity: { inContextPercent: 97, reachablePercent: 100, elements: 60, searched: 24 }, state: 'live' },
    ],
    ...changes,
  };
}
