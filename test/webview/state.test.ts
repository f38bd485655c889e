import { deepStrictEqual, strictEqual } from 'node:assert';
import { applyDelta, fromSnapshot, items, prependOlder } from '../../webview-ui/chat/state';
import { duration } from '../../webview-ui/lib/format';
import { extendedDown, extendedUp, grown, latest, mostRows, around } from '../../webview-ui/transcript/rowWindow';
import { assistant, conversation, liveText, noon, snapshot, user } from './support/fixtures';

/** Runs in Node: what the view makes of snapshots and deltas, without a page. */
describe('view state', () => {
  const start = fromSnapshot(snapshot({ rows: conversation(4), hasMore: true }), 1);

  it('a row finishes the live block with its id and keeps its place', () => {
    let state = applyDelta(start, liveText('t', 'think', 'thinking'));
    state = applyDelta(state, liveText('a', 'Hel'));
    state = applyDelta(state, liveText('a', 'lo'));
    deepStrictEqual(items(state).slice(4), [
      { kind: 'live', id: 't', block: 'thinking', model: 'Claude Sonnet 4.5', text: 'think' },
      { kind: 'live', id: 'a', block: 'assistant', model: 'Claude Sonnet 4.5', text: 'Hello' },
    ]);
    state = applyDelta(state, { kind: 'row', row: assistant('a', 'Hello') });
    deepStrictEqual(
      items(state).map((i) => i.id),
      ['r0', 'r1', 'r2', 'r3', 'a', 't'],
    );
    state = applyDelta(state, { kind: 'live_dropped', id: 't' });
    strictEqual(items(state), state.rows);
  });

  it('a row that comes twice is one row; a change of a row that is not loaded changes nothing', () => {
    const once = applyDelta(start, { kind: 'row', row: user('u', 'first') });
    const twice = applyDelta(once, { kind: 'row', row: user('u', 'second') });
    deepStrictEqual(twice.rows.slice(4), [user('u', 'second')]);
    strictEqual(applyDelta(start, { kind: 'row_changed', row: user('elsewhere', 'x') }), start);
  });

  it('rows that a delta does not touch stay the same objects', () => {
    const changed = applyDelta(start, { kind: 'row_changed', row: user('r2', 'edited') });
    deepStrictEqual(
      changed.rows.map((row, i) => row === start.rows[i]),
      [true, true, false, true],
    );
    const folded = applyDelta(start, { kind: 'folded', firstKept: 'r2' });
    deepStrictEqual(
      folded.rows.map((row) => 'folded' in row && row.folded),
      [true, true, false, false],
    );
    deepStrictEqual(
      folded.rows.map((row, i) => row === start.rows[i]),
      [false, false, true, true],
    );
    deepStrictEqual(applyDelta(folded, { kind: 'folded', firstKept: 'not loaded' }).rows, start.rows);
  });

  it('an older page that no longer fits is dropped', () => {
    const page = { rows: [user('old', 'x')], hasMore: false, marks: [] };
    strictEqual(prependOlder(start, 'somewhere else', page), start);
    const grownState = prependOlder(start, 'r0', page);
    deepStrictEqual(
      { id: grownState.rows[0]!.id, rowsCount: grownState.rows.length, hasMore: grownState.hasMore },
      { id: 'old', rowsCount: 5, hasMore: false },
    );
  });

  it('a new list of sessions replaces the old one', () => {
    const sessions = [{ uuid: 's9', id: '20261122_002', title: 'Only one', updatedAt: noon }];
    deepStrictEqual(applyDelta(start, { kind: 'sessions', sessions }), { ...start, sessions });
  });

  it('renaming a session renames it in the list', () => {
    const renamed = applyDelta(start, { kind: 'session', session: { uuid: 's1', id: '20261122_001', title: 'New' } });
    deepStrictEqual(renamed.sessions.map((s) => s.title).slice(0, 2), ['New', 'Release checklist']);
  });
});

describe('rows in the document', () => {
  it('never exceed the bound, whatever happens', () => {
    let range = latest(10_000);
    for (let i = 0; i < 20; i++) range = extendedUp(range);
    strictEqual(range.end - range.start, mostRows);
    for (let i = 0; i < 20; i++) range = extendedDown(range, 10_000);
    strictEqual(range.end - range.start, mostRows);
    deepStrictEqual(grown(range, 10_400, range.end === 10_000, true).end, 10_400);
    strictEqual(grown({ start: 0, end: 290 }, 320, true, false).end, 300);
    deepStrictEqual(grown({ start: 0, end: 200 }, 320, false, false), { start: 0, end: 200 });
    deepStrictEqual(
      [around(5, 10_000), around(9_999, 10_000), around(3, 10)],
      [
        { start: 0, end: 120 },
        { start: 9880, end: 10_000 },
        { start: 0, end: 10 },
      ],
    );
  });
});

describe('words for numbers', () => {
  it('times', () => {
    deepStrictEqual([-5, 400, 59_400, 65_000, 3_600_000, 7_860_000].map(duration), [
      '0 s',
      '0 s',
      '59 s',
      '1 min 5 s',
      '1 h',
      '2 h 11 min',
    ]);
  });
});
