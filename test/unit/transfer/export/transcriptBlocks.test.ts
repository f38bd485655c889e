import assert from 'node:assert/strict';
import type { EntryContent } from '../../../../src/core/session/entry';
import { transcriptBlock } from '../../../../src/core/transfer/transcriptBlocks';
import { branchOf } from '../../../support/agents/handedSessions';
import { compactionContent } from '../../../support/chat/compactionContent';

const version = (hash: string) => ({ hash, bytes: 1, kind: 'file' as const, blob: hash });
const file = (path: string, before: string | null, after: string | null) => ({
  folder: 'work',
  path,
  before: before === null ? null : version(before),
  after: after === null ? null : version(after),
});

describe('what an export tells of an entry', () => {
  /** Heading and texts, in the order of the kinds. */
  const told = (...contents: readonly EntryContent[]) =>
    branchOf(contents).map((entry) => {
      const block = transcriptBlock(entry);
      return block && [block.heading, ...block.parts.map(({ text }) => text)];
    });

  it('has a heading for every kind that people can read, and what it says below it', () => {
    assert.deepEqual(
      told(
        { type: 'message', role: 'assistant', text: 'Half', interrupted: 'stopped' },
        { type: 'message', role: 'assistant', text: 'Half', interrupted: 'disconnected', model: 'm' },
        { type: 'message', role: 'assistant', text: '', interrupted: 'crashed' },
        { type: 'thinking', text: '' },
        { type: 'tool_result', callId: 'c', name: 'read', text: 'x', status: 'denied' },
        { type: 'tool_result', callId: 'c', name: 'read', text: 'x', status: 'interrupted' },
        compactionContent('op', null, { summaryText: 'Summary' }),
        { type: 'compaction_undone', target: 'op', tokensRestored: 1 },
        {
          ...{ type: 'checkpoint', summary: 'So far', topics: [], keyDecisions: [], openQuestions: [] },
          ...{ tokensAtCheckpoint: 1, messagesAtCheckpoint: 1, coversThrough: 'e' },
        },
        { type: 'nudge', percent: 50, text: 'Note it', injectAs: 'system', usedTokens: 1 },
        { type: 'branch_summary', text: 'Tried', branchLeaf: 'x' },
        { type: 'memory_note', text: 'Known' },
        { type: 'usage_note', text: '50 %' },
        { type: 'custom_message', customType: 'hint', text: 'Mind' },
        { type: 'label', target: 'e', label: 'mark' },
        { type: 'label', target: 'e', label: '' },
        { type: 'model_change', provider: 'p', model: 'm' },
        { type: 'thinking_level_change', level: 'high' },
        { type: 'instructions_change', text: 'Be brief' },
        { type: 'tools_change', enabled: ['read', 'edit'] },
        { type: 'session_info', title: 'Tides' },
        {
          ...{ type: 'prepared_summary', folded: { raw: '' }, model: 'm', basis: '', reads: { count: 1, through: 'e', digest: '' } },
          ...{ notes: '', tokensBefore: 2_000, tokensAfter: 300, keeps: 0, cost: null },
        },
        {
          ...{ type: 'side_question', question: 'q', text: 'a', outcome: 'answered', provider: 'p', model: 'm', requests: 1, calls: 0 },
          ...{ read: 1_200, input: 1, output: 1, cost: null },
        },
        { type: 'handed_over', program: 'codex', id: 'x', records: {} },
        { type: 'custom', customType: 'state', data: { n: 1 } },
      ),
      [
        ['Assistant', 'Half', '*Stopped*'],
        ['m', 'Half', '*Connection lost*'],
        ['Assistant', '*Interrupted by a restart*'],
        null,
        ['Result of read (not allowed)', 'x'],
        ['Result of read (interrupted)', 'x'],
        ['Compacted: 4 messages, 10 tokens before, 2 after', 'Summary'],
        ['Compaction undone'],
        ['Snapshot', 'So far'],
        ['Asked for notes at 50%', 'Note it'],
        ['Summary of another branch', 'Tried'],
        ['Notes at hand', 'Known'],
        ['Context usage', '50 %'],
        ['hint', 'Mind'],
        ['Label: mark'],
        ['Label removed'],
        ['Model: m'],
        ['Thinking: high'],
        ['Instructions changed', 'Be brief'],
        ['Tools: read, edit'],
        ['Title: Tides'],
        ['Summary prepared: 2,000 tokens before, 300 after'],
        ['Side question: 1,200 tokens read', 'a'],
        ['Handed over to Codex CLI'],
        ['state', '{\n  "n": 1\n}'],
      ],
    );
  });

  it('names the files of a change, of a restore and of a review, and why something is not covered', () => {
    const lines = { added: 41, removed: 7 };
    const files = [{ ...file('a`b.ts', 'x', 'y'), lines }, file('new.ts', null, 'y'), file('old.ts', 'x', null)];
    const uncovered = [
      { path: 'big.bin', reason: 'too_large' as const },
      { path: '', reason: 'no_git' as const },
    ];
    assert.deepEqual(
      told(
        { type: 'file_changes', source: 'tool', files, uncovered },
        { type: 'file_changes', source: 'restore', files: [files[1]!] },
        { type: 'file_changes', source: 'review', files: [file('a.ts', 'x', 'x'), file('b.ts', 'x', 'y')] },
      ),
      [
        [
          'Files changed: 3 files, +41 −7',
          "- `a'b.ts`: changed (+41 −7)\n- `new.ts`: created\n- `old.ts`: deleted\n- `big.bin`: too large to be kept\n- Not in a Git repository: what commands change cannot be restored",
        ],
        ['Files restored: 1 file', '- `new.ts`: created'],
        ['Changes reviewed', '- `a.ts`: reviewed\n- `b.ts`: not reviewed to the end'],
      ],
    );
  });
});
