import assert from 'node:assert/strict';
import { itemsOf, joined, inProcessAnalyst, RememberingAnalyst } from '../../../../src/core/compaction/measure/textAnalysis';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

describe('an analyst that remembers', () => {
  const b = new BranchBuilder();
  b.user('Never touch src/locked.ts; the port is 54329.');
  b.assistant('We decided to use parseConfig in src/config.ts.');
  b.user('And parseConfig must read port 54329.');
  const items = itemsOf(b.entries);

  it('reads a range once, and again when it is another or passages are wanted', async () => {
    const asked: [number, number][] = [];
    const analyst = new RememberingAnalyst({
      ...inProcessAnalyst,
      analyse: (some, budget) => (asked.push([some.length, budget]), inProcessAnalyst.analyse(some, budget)),
    });
    const first = await analyst.analyse(items, 0);
    assert.equal(await analyst.analyse([...items], 0), first);
    assert.ok((await analyst.analyse(items, 200)).lines.length > 0);
    await analyst.analyse(items.slice(0, 2), 0);
    await analyst.analyse(items, 0);
    assert.deepEqual(asked, [
      [3, 0],
      [3, 200],
      [2, 0],
      [3, 0],
    ]);
    assert.equal(await analyst.inContext([], ''), 100);
  });

  it('has in two parts what it has in one', async () => {
    const [whole, head, tail] = await Promise.all(
      [items, items.slice(0, 1), items.slice(1)].map((part) => inProcessAnalyst.analyse(part, 0)),
    );
    assert.deepEqual(joined(head!, tail!), whole);
  });
});
