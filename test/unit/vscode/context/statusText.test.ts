import { deepStrictEqual, doesNotMatch, match, ok } from 'node:assert';
import type { ContextSnapshot } from '../../../../src/core/context/measure/snapshot';
import { statusView } from '../../../../src/vscode/context/statusText';
import { contextSnapshot as snapshot } from '../../../support/chat/contextSnapshot';

const view = (over: Partial<ContextSnapshot> = {}, more: Partial<Parameters<typeof statusView>[0]> = {}) =>
  statusView({ snapshot: snapshot(over), remembered: false, compacting: false, problems: [], spending: null, ...more });

describe('status bar', () => {
  it('shows how full the context is, and everything else in the tooltip', () => {
    deepStrictEqual(view(), {
      text: '$(dashboard) 42%',
      tooltip: [
        '**84.1k of 200k tokens · 42%**',
        'Measured by the API.',
        '| | |\n|:--|--:|\n| System prompt | 1.2k |\n| History | 82.9k |',
        'Model: anthropic/claude\\-x',
        'Next: memory reminder at 100k',
        'Compaction at 170k, compacts in about 9 turns',
        '---',
        '[Breakdown](command:threadkeeper.showBreakdown) · [Compact](command:threadkeeper.compact) · [Select Model…](command:threadkeeper.selectModel) · [Show Log](command:threadkeeper.showLog)',
      ].join('\n\n'),
      severity: 'normal',
      label: 'Threadkeeper context: 84 thousand of 200 thousand tokens, 42 percent',
    });
  });

  it('marks what is estimated or remembered', () => {
    deepStrictEqual(view({ provenance: 'estimated' }).text, '$(dashboard) ~42%');
    const remembered = view({}, { remembered: true });
    deepStrictEqual(remembered.text, '$(dashboard) ~42%');
    match(remembered.tooltip, /From the last time/);
    match(remembered.label, /42 percent, estimated/);
  });

  it('tells that a summary is being written, not that one was when the window closed', () => {
    const text = /A summary is being written in the background\./;
    match(view({ summarizing: true }).tooltip, text);
    doesNotMatch(view({ summarizing: true }, { remembered: true }).tooltip, text);
  });

  it('shows no size offline, where nothing fills up, but that it compacts', () => {
    const offline = { model: 'offline/offline' };
    deepStrictEqual([view(offline).text, view(offline, { remembered: true }).text], ['', '']);
    deepStrictEqual(view(offline, { compacting: true }).text, '$(sync~spin) Compacting…');
  });

  it('does not call a beginning nothing', () => {
    const { text, label } = view({ used: 900, provenance: 'estimated' });
    deepStrictEqual(
      [text, label, view({ used: 0 }).text],
      ['$(dashboard) <1%', 'Threadkeeper context: 900 of 200 thousand tokens, less than 1 percent, estimated', '$(dashboard) 0%'],
    );
  });

  it('warns and alarms where the gauge does', () => {
    const off = snapshot().thresholds.map((one) => (one.kind === 'compaction' ? { ...one, state: 'off' as const } : one));
    const severities = [149_999, 150_000, 170_000, 260_000].map((used) => view({ used }).severity);
    deepStrictEqual(
      [...severities, view({ used: 260_000, thresholds: off }).severity],
      ['normal', 'warning', 'warning', 'warning', 'error'],
    );
  });

  it('says how far it is to what ends the room, once', () => {
    const next = (over: Partial<ContextSnapshot>) => view(over).tooltip.split('\n\n').slice(4, -2);
    const off = snapshot().thresholds.map((one) => (one.kind === 'compaction' ? { ...one, state: 'off' as const } : one));
    deepStrictEqual(next({ nextEvent: { kind: 'compaction', inTokens: 3_000 }, turnsLeft: 0 }), [
      'Next: compaction at 87.1k',
      'compacts in about 1 turn',
    ]);
    deepStrictEqual(next({ thresholds: off, turnsLeft: 300 }), ['Next: memory reminder at 100k', 'Limit at 190k']);
    deepStrictEqual(next({ turnsLeft: null }), ['Next: memory reminder at 100k', 'Compaction at 170k']);
  });

  it('offers undo where there is something to undo, and only cancelling while it compacts', () => {
    match(view({ compactions: 1 }).tooltip, /command:threadkeeper\.undoCompaction/);
    const compacting = view({}, { compacting: true });
    deepStrictEqual(compacting.text, '$(sync~spin) Compacting…');
    match(compacting.tooltip, /\[Cancel Compaction\]\(command:threadkeeper\.cancelCompaction\)$/);
    ok(!compacting.tooltip.includes('threadkeeper.compact)'));
  });

  it('keeps saying which setting cannot be used, and never lets a text become a link', () => {
    const { tooltip } = view(
      { model: 'anthropic/[x](command:evil)' },
      { problems: [{ setting: 'threadkeeper.model', message: '[a](b) is not text.' }] },
    );
    match(tooltip, /`threadkeeper\.model`: \\\[a\\\]\\\(b\\\) is not text/);
    ok(!tooltip.includes('](command:evil)'));
  });

  it('says what the session and the day have cost, once that is known', () => {
    const spending = {
      session: { cost: 0.421, requestsWithoutCost: 0, isEstimated: true },
      today: { cost: 1.5, requestsWithoutCost: 2, isEstimated: false },
    };
    match(
      view({}, { spending }).tooltip.replaceAll('\\', ''),
      /Cost: this session about \$0\.42 · today \$1\.50 \+ 2 requests without a known price/,
    );
    doesNotMatch(view().tooltip, /Cost:/);
  });
});
