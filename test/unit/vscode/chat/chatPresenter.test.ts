import { deepStrictEqual, ok } from 'node:assert';
import type { EntryContent } from '../../../../src/core/session/entry';
import type { TranscriptRow } from '../../../../src/protocol/messages';
import { attemptDiscarded } from '../../../../src/core/session/liveCompaction';
import { exclusionContent } from '../../../../src/core/context/contextExclusion';

import { PresenterRig, user, answer, call, result, nudge, compaction, aPage, rows, folded } from '../../../support/chat/presenterRig';

describe('ChatPresenter', () => {
  it('makes a row of every kind of entry that is shown', () => {
    const rig = new PresenterRig();
    rig.excerpted.add('e1');
    rig.append(user('Hello'));
    rig.append({ type: 'thinking', text: 'Hm.', durationMs: 40 });
    rig.append({ ...answer('Hi'), interrupted: 'disconnected' } as EntryContent);
    rig.append(call('c1'));
    rig.append(result('c1'));
    rig.append(nudge(50));
    rig.append(
      compaction(null, {
        note: 'No model.',
        audit: { checked: 1, inSummary: 1, leftBehind: 1, missing: [], repaired: false, unknownIds: ['#99'] },
      }),
    );
    rig.append({ type: 'compaction_undone', target: 'e7', tokensRestored: 9_100 });
    rig.append({ type: 'custom', customType: 'turn_error', data: { reason: 'network', message: 'Not reached.' } });
    rig.append({ type: 'model_change', provider: 'anthropic', model: 'n' });
    deepStrictEqual(rows(rig), [
      { kind: 'user', id: 'e1', at: 10, text: 'Hello', folded: false, excerpted: true, pinned: false, excluded: false },
      { kind: 'thinking', id: 'e2', at: 20, text: 'Hm.', durationMs: 40, folded: false },
      {
        kind: 'assistant',
        id: 'e3',
        at: 30,
        markdown: 'Hi',
        model: 'M',
        folded: false,
        pinned: false,
        excluded: false,
        interrupted: 'disconnected',
      },
      {
        kind: 'tool',
        id: 'e4',
        at: 40,
        name: 'recall',
        title: 'Looked up “x” in the history',
        input: '{\n  "query": "x"\n}',
        output: 'found',
        approval: null,
        hasDiff: false,
        status: 'ok',
        folded: false,
        excluded: false,
      },
      { kind: 'nudge', id: 'e6', at: 60, percent: 50, usedTokens: 500, text: 'Write notes.', outcome: 'delivered', writes: [] },
      {
        kind: 'compaction',
        id: 'e7',
        at: 70,
        messages: 8,
        tokensBefore: 9_000,
        tokensAfter: 1_000,
        rung: 'extractive',
        trigger: 'manual',
        durationMs: 5,
        model: null,
        note: 'No model.',
        summary: 'State.',
        continuity: null,
        unknownIds: ['#99'],
        coversFrom: 'e1',
        state: 'undone',
        reusable: false,
      },
      { kind: 'undo', id: 'e8', at: 80, tokensRestored: 9_100 },
      { kind: 'error', id: 'e9', at: 90, reason: 'network', text: 'Not reached.' },
      { kind: 'info', id: 'e10', at: 100, text: 'Model: N' },
    ]);
  });

  it('marks what is pinned, tells rows that change by it, and no others', () => {
    const rig = new PresenterRig();
    const pin = (target: string) => ({ session: 'u', kind: 'entry' as const, target, contentHash: null, at: 1 });
    rig.append(user('Question'));
    rig.append(answer('Answer'));
    rig.take();
    rig.emit({ type: 'pins_changed', pins: [pin('e1')] });
    const pinned = {
      kind: 'user' as const,
      id: 'e1',
      at: 10,
      text: 'Question',
      folded: false,
      excerpted: false,
      pinned: true,
      excluded: false,
    };
    deepStrictEqual(rig.take(), [{ kind: 'row_changed', row: pinned }]);
    rig.emit({ type: 'pins_changed', pins: [] });
    deepStrictEqual(rig.take(), [{ kind: 'row_changed', row: { ...pinned, pinned: false } }]);
  });

  it('marks what is excluded, a call as well, tells rows that change by it, and again after an undo', () => {
    const rig = new PresenterRig();
    rig.append(user('Question'));
    rig.append(call('c1'));
    rig.append(result('c1'));
    rig.append(answer('Answer'));
    rig.take();
    const told = () =>
      rig.take().flatMap((delta) => (delta.kind === 'row_changed' && 'excluded' in delta.row ? [[delta.row.id, delta.row.excluded]] : []));
    rig.append(exclusionContent({ entries: ['e2', 'e3'], excluded: true, tokensAfter: 1 }));
    deepStrictEqual(told(), [['e2', true]]);
    rig.append(exclusionContent({ entries: ['e1'], excluded: true, tokensAfter: 1 }));
    rig.append(exclusionContent({ entries: ['e2', 'e3'], excluded: false, tokensAfter: 1 }));
    deepStrictEqual(told(), [
      ['e1', true],
      ['e2', false],
    ]);
    rig.append(compaction(null));
    rig.append({ type: 'compaction_undone', target: 'e8', tokensRestored: 9_100 });
    deepStrictEqual(told(), [['e1', true]]);
    deepStrictEqual(
      rows(rig).flatMap((row) => ('excluded' in row ? [[row.id, row.excluded]] : [])),
      [
        ['e1', true],
        ['e2', false],
        ['e4', false],
      ],
    );
  });

  it('tells a summary that a better one has replaced from one that a later compaction has taken in', () => {
    const rig = new PresenterRig();
    rig.append(user('u1'));
    rig.append(compaction('e1'));
    rig.append(compaction('e1', { trigger: 'retry', supersedes: 'e2' }));
    const told = (all: readonly TranscriptRow[]) =>
      all.flatMap((row) => (row.kind === 'compaction' ? [[row.id, row.state, row.reusable]] : []));
    deepStrictEqual(told(rows(rig)), [
      ['e2', 'replaced', true],
      ['e3', 'live', false],
    ]);
    rig.take();
    rig.append(compaction('e1'));
    const changed = rig.take().flatMap((delta) => (delta.kind === 'row_changed' ? [delta.row] : []));
    deepStrictEqual(told(changed), [
      ['e2', 'replaced', false],
      ['e3', 'superseded', false],
    ]);
  });

  it('shows nothing of entries that are not for the eye', () => {
    const rig = new PresenterRig();
    rig.append({ type: 'memory_note', text: 'notes' }, { display: false });
    rig.append({ type: 'thinking', text: '', signature: 's' });
    rig.append({ type: 'label', target: 'e1', label: 'l' });
    rig.append({ type: 'custom', customType: 'unknown', data: null });
    rig.append(result('c-without-call'));
    deepStrictEqual([rig.take(), rows(rig)], [[{ kind: 'marks', marks: [{ id: 'e1', label: 'l', fork: null, beyond: [] }] }], []]);
  });

  it('streams a block and replaces it by its row', () => {
    const rig = new PresenterRig();
    rig.start();
    rig.emit({ type: 'phase_changed', id: 't', phase: 'waiting' });
    rig.take();
    rig.emit({ type: 'text_delta', entryId: 'e1', block: 'message', model: 'm', text: 'He' });
    rig.emit({ type: 'text_delta', entryId: 'e1', block: 'message', model: 'm', text: 'llo' });
    deepStrictEqual(rig.take(), [
      { kind: 'turn', turn: { id: 't', phase: 'streaming', startedAt: 1_000, retry: null } },
      { kind: 'live_text', id: 'e1', block: 'assistant', model: 'M', text: 'He' },
      { kind: 'live_text', id: 'e1', block: 'assistant', model: 'M', text: 'llo' },
    ]);
    deepStrictEqual(rig.presenter.parts().live, [{ id: 'e1', kind: 'assistant', model: 'M', text: 'Hello' }], 'for a view that opens now');
    rig.append(answer('Hello'));
    deepStrictEqual(
      rig.take().map(({ kind }) => kind),
      ['row'],
    );
    deepStrictEqual(rig.presenter.parts().live, []);
  });

  it('drops what was live and became no row', () => {
    const rig = new PresenterRig();
    rig.start();
    rig.emit({ type: 'text_delta', entryId: 'a', block: 'thinking', model: 'm', text: '?' });
    rig.emit({ type: 'text_delta', entryId: 'b', block: 'message', model: 'm', text: '!' });
    rig.take();
    rig.emit({ type: 'live_dropped', entryId: 'a' });
    rig.end();
    deepStrictEqual(rig.take(), [
      { kind: 'live_dropped', id: 'a' },
      { kind: 'live_dropped', id: 'b' },
      { kind: 'turn', turn: null },
    ]);
    deepStrictEqual(rig.presenter.parts().live, []);
  });

  it('shows what a failed attempt has left until the next one writes, here and after a reload', () => {
    const rig = new PresenterRig();
    rig.append(user('Hello'));
    const cut = (text: string) => ({ ...answer(text), interrupted: 'disconnected' }) as EntryContent;
    rig.append(cut('Ha'));
    rig.append({ type: 'custom', customType: attemptDiscarded, data: { entries: ['e2'], reason: 'network' } });
    deepStrictEqual(
      rows(rig).map(({ id }) => id),
      ['e1', 'e2'],
    );
    rig.emit({ type: 'text_delta', entryId: 'e4', block: 'message', model: 'm', text: 'Hal' });
    deepStrictEqual(
      rows(rig).map(({ id }) => id),
      ['e1'],
    );
    ok(rig.deltas.some((delta) => delta.kind === 'live_dropped' && delta.id === 'e2'));
    rig.append(cut('Hal'));
    rig.append({ type: 'custom', customType: attemptDiscarded, data: { entries: ['e4'], reason: 'network' } });
    deepStrictEqual(
      rows(rig).map(({ id }) => id),
      ['e1', 'e4'],
      'the last attempt says how far it came',
    );
  });

  it('tells the phases of a turn, a retry with its time, and stopping until the end', () => {
    const rig = new PresenterRig();
    rig.start();
    rig.emit({ type: 'phase_changed', id: 't', phase: 'retrying' });
    rig.emit({ type: 'retry_scheduled', id: 't', attempt: 1, at: 5_000, delayMs: 4_000, reason: 'overloaded' });
    rig.emit({ type: 'phase_changed', id: 't', phase: 'waiting' });
    rig.presenter.stopping();
    rig.emit({ type: 'phase_changed', id: 't', phase: 'tools' });
    rig.end({ reason: 'cancelled', message: 'Stopped.' });
    const turn = { id: 't', startedAt: 1_000, retry: null };
    deepStrictEqual(rig.take(), [
      { kind: 'turn', turn: { ...turn, phase: 'preparing' } },
      { kind: 'turn', turn: { ...turn, phase: 'retrying' } },
      { kind: 'turn', turn: { ...turn, phase: 'retrying', retry: { attempt: 1, at: 5_000, reason: 'overloaded' } } },
      { kind: 'turn', turn: { ...turn, phase: 'waiting' } },
      { kind: 'turn', turn: { ...turn, phase: 'stopping' } },
      { kind: 'turn', turn: null },
    ]);
  });

  it('joins a call and its result, and marks calls that never ran', () => {
    const rig = new PresenterRig();
    rig.start();
    rig.append(call('c1'));
    rig.append(call('c2'));
    rig.take();
    rig.append(result('c1'));
    rig.end();
    deepStrictEqual(
      rig
        .take()
        .map((delta) =>
          delta.kind === 'row_changed' && delta.row.kind === 'tool' ? [delta.row.id, delta.row.status, delta.row.output] : delta.kind,
        ),
      [['e1', 'ok', 'found'], ['e2', 'interrupted', null], 'turn'],
    );
  });

  it('ends the calls of an attempt that is repeated', () => {
    const rig = new PresenterRig();
    rig.start();
    rig.append(call('c1'));
    rig.take();
    rig.append({ type: 'custom', customType: attemptDiscarded, data: { entries: ['e1'] } }, { display: false });
    deepStrictEqual(
      rig.take().map((delta) => delta.kind === 'row_changed' && delta.row.kind === 'tool' && delta.row.status),
      ['interrupted'],
    );
  });

  it('folds what stands before the first kept entry, and unfolds it when that is undone', () => {
    const rig = new PresenterRig();
    for (let i = 0; i < 4; i++) rig.append(i % 2 ? answer(`a${i}`) : user(`u${i}`));
    rig.take();
    rig.append(compaction('e3'));
    deepStrictEqual(
      rig.take().map((delta) => (delta.kind === 'folded' ? delta : delta.kind)),
      ['row', { kind: 'folded', firstKept: 'e3' }],
    );
    deepStrictEqual(folded(rig), [
      ['e1', true],
      ['e2', true],
      ['e3', false],
      ['e4', false],
    ]);
    rig.append({ type: 'compaction_undone', target: 'e5', tokensRestored: 9_000 });
    const deltas = rig.take();
    deepStrictEqual(
      deltas.map(({ kind }) => kind),
      ['row', 'row_changed', 'folded'],
    );
    ok(deltas[1]?.kind === 'row_changed' && deltas[1].row.kind === 'compaction' && deltas[1].row.state === 'undone');
    deepStrictEqual(deltas[2], { kind: 'folded', firstKept: null });
    deepStrictEqual(
      folded(rig).map(([, is]) => is),
      [false, false, false, false],
    );
  });

  it('folds everything before the record when nothing was kept, or when what was kept has no row', () => {
    const rig = new PresenterRig();
    rig.append(user('u'));
    rig.append(answer('a'));
    rig.append(compaction(null));
    deepStrictEqual(rig.take().at(-1), { kind: 'folded', firstKept: 'e3' });
    const hidden = new PresenterRig();
    hidden.append(user('u'));
    hidden.append({ type: 'memory_note', text: 'n' }, { display: false });
    hidden.append(answer('a'));
    hidden.append(compaction('e2'));
    deepStrictEqual(hidden.take().at(-1), { kind: 'folded', firstKept: 'e3' });
  });

  it('lets an earlier compaction live again when the later one is undone', () => {
    const rig = new PresenterRig();
    rig.append(user('u1'));
    rig.append(user('u2'));
    rig.append(compaction('e2'));
    rig.append(user('u3'));
    rig.append(compaction('e4'));
    const states = () => rows(rig).flatMap((row) => (row.kind === 'compaction' ? [row.state] : []));
    deepStrictEqual(
      [states(), folded(rig)],
      [
        ['superseded', 'live'],
        [
          ['e1', true],
          ['e2', true],
          ['e4', false],
        ],
      ],
    );
    rig.append({ type: 'compaction_undone', target: 'e5', tokensRestored: 1 });
    deepStrictEqual(
      [states(), folded(rig)],
      [
        ['live', 'undone'],
        [
          ['e1', true],
          ['e2', false],
          ['e4', false],
        ],
      ],
    );
    deepStrictEqual(rig.take().at(-1), { kind: 'folded', firstKept: 'e2' });
  });

  it('says what was written after a nudge, and nothing of what failed', () => {
    const rig = new PresenterRig();
    rig.append(nudge(50));
    rig.append(call('c1', 'memory', { command: 'create', path: '/memories/ports.md', file_text: '8443' }));
    rig.append(call('c2', 'memory', { command: 'create', path: '/memories/../x', file_text: 'no' }));
    rig.take();
    rig.append({ type: 'tool_result', callId: 'c2', name: 'memory', text: 'not allowed', status: 'error' });
    rig.append({ type: 'tool_result', callId: 'c1', name: 'memory', text: 'written', status: 'ok' });
    const changed = rig.take().flatMap((delta) => (delta.kind === 'row_changed' && delta.row.kind === 'nudge' ? [delta.row.writes] : []));
    deepStrictEqual(changed, [[{ call: 'e2', path: 'ports.md', command: 'create', hasDiff: true }]]);
  });

  it('tells what became of a nudge: acted on, expired by a compaction, open again after its undo', () => {
    const rig = new PresenterRig();
    const outcomes = () => rows(rig).flatMap((row) => (row.kind === 'nudge' ? [row.outcome] : []));
    rig.append(nudge(50));
    rig.append(call('m1', 'memory', { command: 'view', path: 'notes' }));
    deepStrictEqual(outcomes(), ['delivered'], 'reading is no writing');
    rig.append(call('m2', 'memory', { command: 'create', path: 'a', file_text: 'b' }));
    deepStrictEqual(outcomes(), ['acted']);
    rig.append(nudge(75));
    rig.take();
    rig.append(compaction(null));
    deepStrictEqual(
      [outcomes(), rig.take().some((delta) => delta.kind === 'row_changed' && delta.row.id === 'e4')],
      [['acted', 'expired'], true],
    );
    rig.append({ type: 'compaction_undone', target: 'e5', tokensRestored: 1 });
    deepStrictEqual(outcomes(), ['acted', 'delivered']);
  });

  it('says in the transcript what could not be saved there, once', () => {
    const rig = new PresenterRig();
    rig.start();
    rig.append(user('u'));
    rig.take();
    rig.end({ reason: 'store', message: 'The disk is full.' });
    deepStrictEqual(rig.take(), [
      { kind: 'row', row: { kind: 'error', id: 'unsaved-1', at: 1_000, reason: 'store', text: 'The disk is full.' } },
      { kind: 'turn', turn: null },
    ]);
    rig.start();
    rig.append(user('u'));
    rig.append({ type: 'custom', customType: 'turn_error', data: { reason: 'network', message: 'x' } });
    rig.take();
    rig.end({ reason: 'network', message: 'x' });
    deepStrictEqual(rig.take(), [{ kind: 'turn', turn: null }], 'it is a row already');
    rig.start();
    rig.take();
    rig.end({ reason: 'store', message: 'x' });
    deepStrictEqual(rig.take(), [{ kind: 'turn', turn: null }], 'the message goes back to the composer with its reason');
  });

  it('shows a compaction that the user asked for as something that runs', () => {
    const rig = new PresenterRig();
    rig.emit({ type: 'compaction_started', trigger: 'manual', tokensBefore: 9 });
    rig.emit({ type: 'compaction_ended', entry: null, message: 'No.' });
    rig.presenter.settle();
    deepStrictEqual(rig.take(), [
      { kind: 'turn', turn: { id: 'compaction', phase: 'compacting', startedAt: 1_000, retry: null } },
      { kind: 'turn', turn: null },
    ]);
  });

  it('keeps a bounded part of a long transcript and gives older pages with their marks', () => {
    const rig = new PresenterRig();
    for (let i = 0; i < 400; i++) rig.append(user(`u${i}`));
    const { rows: kept, hasMore } = rig.presenter.parts();
    ok(kept.length <= 300 && hasMore && kept.at(-1)?.id === 'e400');
    rig.append(exclusionContent({ entries: ['e1', 'e400'], excluded: true, tokensAfter: 1 }));
    deepStrictEqual(rig.reread, ['e1']);
    rig.append(compaction('e390'));
    const page = rig.presenter.older(aPage(rig.entries.slice(0, 2))).rows;
    deepStrictEqual(
      page.map((row) => row.kind === 'user' && [row.id, row.folded]),
      [
        ['e1', true],
        ['e2', true],
      ],
    );
  });

  it('reads anew what is pinned or excluded on an older page, and nothing that no view has', () => {
    const rig = new PresenterRig();
    const [, question, last] = [rig.make(user('not shown')), rig.make(user('Question')), rig.make(user('last'))];
    rig.presenter.load(aPage([last], true));
    const pin = (target: string) => ({ session: 'u', kind: 'entry' as const, target, contentHash: null, at: 1 });
    const pins = [pin('e1'), pin('e2')];
    rig.emit({ type: 'pins_changed', pins });
    deepStrictEqual([rig.reread, rig.take()], [[], []]);
    rig.emit({ type: 'pins_changed', pins: [] });
    rig.presenter.older(aPage([question], true));
    rig.emit({ type: 'pins_changed', pins });
    rig.append(exclusionContent({ entries: ['e1', 'e2'], excluded: true, tokensAfter: 1 }));
    deepStrictEqual(rig.reread, ['e2', 'e2']);
    rig.take();
    rig.presenter.anew([question]);
    const row = {
      kind: 'user' as const,
      id: 'e2',
      at: 20,
      text: 'Question',
      folded: false,
      excerpted: false,
      pinned: true,
      excluded: true,
    };
    deepStrictEqual(rig.take(), [{ kind: 'row_changed', row }]);
  });

  it('asks for a snapshot when the first kept row is older than what is kept', () => {
    const rig = new PresenterRig();
    for (let i = 0; i < 400; i++) rig.append(user(`u${i}`));
    rig.append(compaction('e3'));
    deepStrictEqual([rig.resyncs, rig.deltas.some(({ kind }) => kind === 'folded')], [1, false]);
  });

  it('joins a call on an older page with its result on the newer one', () => {
    const rig = new PresenterRig();
    const before = rig.make(call('c1'));
    const after = rig.make(result('c1'));
    const last = rig.make(user('u'));
    rig.presenter.load(aPage([after, last], true));
    deepStrictEqual(
      rows(rig).map(({ id }) => id),
      ['e3'],
    );
    deepStrictEqual(
      rig.presenter.older(aPage([before])).rows.map((row) => row.kind === 'tool' && row.status),
      ['ok'],
    );
  });

  it('says while the turn waits for a decision about a full context, also to a view that opens then', () => {
    const rig = new PresenterRig();
    rig.start();
    rig.take();
    rig.emit({ type: 'context_full', id: 't', used: 9_500, effective: 10_000, limit: 9_000 });
    const full = { used: 9_500, effective: 10_000, fits: false };
    deepStrictEqual([rig.take(), rig.presenter.parts().full, rig.presenter.isFull], [[{ kind: 'full', full }], full, true]);
    rig.emit({ type: 'context_full_answered', id: 't' });
    deepStrictEqual([rig.take(), rig.presenter.parts().full, rig.presenter.isFull], [[{ kind: 'full', full: null }], null, false]);
  });
});
