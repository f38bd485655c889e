import assert from 'node:assert/strict';
import { checkpointDue, newestOnBranch, soundCheckpoints } from '../../../../src/core/compaction/checkpoints/checkpointDue';
import { parseCheckpoint, renderCheckpoint } from '../../../../src/core/compaction/checkpoints/checkpointText';
import { exclusionContent } from '../../../../src/core/context/contextExclusion';
import type { EntryOf, StoredEntry } from '../../../../src/core/session/entry';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

const rule = { thresholds: [5_000, 10_000, 15_000], everyUserTurns: 4, minTokens: 3_000 };

function checkpoint(b: BranchBuilder, covers: StoredEntry, tokens: number): EntryOf<'checkpoint'> {
  const entry = new BranchBuilder().add({
    type: 'checkpoint',
    summary: 's',
    topics: [],
    keyDecisions: [],
    openQuestions: [],
    tokensAtCheckpoint: tokens,
    messagesAtCheckpoint: 1,
    coversThrough: covers.uuid,
  });
  return { ...entry, uuid: `checkpoint-${b.entries.length}` } as EntryOf<'checkpoint'>;
}

function turns(b: BranchBuilder, count: number): StoredEntry {
  let last: StoredEntry | undefined;
  for (let i = 0; i < count; i++) {
    b.user('q');
    last = b.assistant('a');
  }
  return last!;
}

describe('when a checkpoint is due', () => {
  it('is at each threshold once, and every so many user turns', () => {
    const b = new BranchBuilder();
    const first = turns(b, 2);
    assert.deepEqual(
      [2_999, 4_999, 5_000].map((used) => checkpointDue(b.entries, [], used, rule)),
      [false, false, true],
    );
    const made = [checkpoint(b, first, 5_200)];
    turns(b, 1);
    assert.deepEqual(
      [9_999, 10_000].map((used) => checkpointDue(b.entries, made, used, rule)),
      [false, true],
    );
    turns(b, 3);
    assert.equal(checkpointDue(b.entries, made, 6_000, rule), true, 'four turns since');
    assert.equal(checkpointDue(b.entries, made, 2_000, rule), false, 'too small');
    assert.equal(checkpointDue(b.entries, made, 6_000, { ...rule, everyUserTurns: 0 }), false);
  });

  it('is not while nothing has been said since, and begins anew after a compaction', () => {
    const b = new BranchBuilder();
    const last = turns(b, 6);
    const made = [checkpoint(b, last, 4_000)];
    assert.equal(checkpointDue(b.entries, made, 20_000, rule), false);
    b.compaction(last);
    turns(b, 1);
    assert.equal(checkpointDue(b.entries, made, 5_000, rule), true);
    b.compaction(turns(b, 1), { tokensAfter: 5_900 });
    turns(b, 1);
    assert.deepEqual(
      [6_100, 9_999, 10_000].map((used) => checkpointDue(b.entries, [], used, rule)),
      [false, false, true],
      'what the compaction left behind needs none',
    );
  });

  it('counts only those that lie on this branch', () => {
    const b = new BranchBuilder();
    const covered = turns(b, 3);
    const elsewhere = {
      ...checkpoint(b, covered, 9_000),
      content: { ...checkpoint(b, covered, 9_000).content, coversThrough: 'on another branch' },
    };
    assert.equal(newestOnBranch(b.entries, [elsewhere]), null);
    assert.equal(checkpointDue(b.entries, [elsewhere], 5_000, rule), true);
    const here = checkpoint(b, covered, 100);
    assert.equal(newestOnBranch(b.entries, [here, elsewhere]), here);
  });
});

describe('a checkpoint that a compaction may use', () => {
  it('is none that covers what was excluded or put back after it was written', () => {
    const b = new BranchBuilder();
    const [one, two] = [b.user('one'), b.user('two')];
    const written = (covers: StoredEntry) => ({ ...checkpoint(b, covers, 5_000), parent: b.entries.at(-1)!.uuid });
    const sound = (...made: EntryOf<'checkpoint'>[]) => soundCheckpoints(b.entries, made).map((each) => made.indexOf(each));
    const [first, second] = [written(one), written(two)];
    assert.deepEqual(sound(first, second), [0, 1]);
    b.add(exclusionContent({ entries: [two.uuid], excluded: true, tokensAfter: 0 }));
    assert.deepEqual(sound(first, second), [0], 'the first does not cover it');
    const third = written(two);
    assert.deepEqual(sound(first, second, third), [0, 2], 'the third was written without it');
    b.add(exclusionContent({ entries: [two.uuid], excluded: false, tokensAfter: 0 }));
    assert.deepEqual(sound(first, second, third), [0], 'the third does not know it');
    b.add(exclusionContent({ entries: ['of an earlier cycle'], excluded: true, tokensAfter: 0 }));
    assert.deepEqual(sound(first), [0]);
  });

  it('is none that knew more than this branch: what it left out may be said here', () => {
    const b = new BranchBuilder();
    const [one, two] = [b.user('one'), b.user('two')];
    const here = [...b.entries];
    b.add(exclusionContent({ entries: [one.uuid], excluded: true, tokensAfter: 0 }));
    const elsewhere = { ...checkpoint(b, two, 5_000), parent: b.entries.at(-1)!.uuid };
    assert.deepEqual(soundCheckpoints(b.entries, [elsewhere]), [elsewhere]);
    assert.deepEqual(soundCheckpoints(here, [elsewhere]), []);
    const before = { ...elsewhere, parent: two.uuid };
    assert.deepEqual(soundCheckpoints(here, [before]), [before]);
  });
});

describe('a checkpoint as a model writes it', () => {
  const state = { summary: 'they talked', topics: ['t'], keyDecisions: ['use tabs (#1)'], openQuestions: [] };

  it('is read leniently, and text without JSON is the summary', () => {
    assert.deepEqual(parseCheckpoint(`Here: ${JSON.stringify(state)}`), state);
    assert.deepEqual(parseCheckpoint('{"summary":" s ","topics":"one"}'), {
      summary: 's',
      topics: ['one'],
      keyDecisions: [],
      openQuestions: [],
    });
    assert.deepEqual(parseCheckpoint(`x${'y'.repeat(5_000)}`)?.summary.length, 4_000);
    for (const bad of ['', '  ', '{"summary": "cut', '{"topics":[]}', '{}']) assert.equal(parseCheckpoint(bad), undefined);
  });

  it('is shown with its parts', () => {
    assert.equal(
      renderCheckpoint(state),
      '## What happened and where it stands\nthey talked\n\n## Topics\n- t\n\n## Key decisions\n- use tabs (#1)',
    );
  });
});
