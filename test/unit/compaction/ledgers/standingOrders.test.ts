import assert from 'node:assert/strict';
import { standingOrders } from '../../../../src/core/compaction/ledgers/userLedger';

describe('standing orders', () => {
  it('are sentences that are to hold from then on', () => {
    const orders = [
      'Always give lengths in metres.',
      'Never touch the lock file.',
      "Please don't add comments that repeat the code.",
      'From now on answer in German.',
      'Standing rule: end reports with the word OVER.',
      'I prefer tabs.',
      'Make sure that tests run before you say that you are done.',
      'You must not mention the customer by name.',
    ];
    for (const order of orders) assert.deepEqual(standingOrders(`Here is the log of today. ${order} What do you see in it?`), [order]);
  });

  it('are found in Chinese', () => {
    const orders = ['长期规则：所有长度都用米。', '以后请用中文回答。', '不要修改锁文件。', '每次提交之前必须运行测试。'];
    for (const order of orders) assert.deepEqual(standingOrders(`这是今天的日志。${order}你看到什么了？`), [order]);
  });

  it('are neither questions nor reports', () => {
    for (const text of [
      'Must I always restart it?',
      'The build took 4 s.',
      'Look at src/main.ts and fix the typo.',
      '请看一下这个文件。',
      '我们必须重启吗？',
      '',
    ])
      assert.deepEqual(standingOrders(text), []);
  });

  it('are looked for around a paste, not in it', () => {
    const paste = `${'line of a log\n'.repeat(60)}${'ERROR the value must never be null.\n'.repeat(500)}${'line of a log\n'.repeat(60)}`;
    assert.deepEqual(standingOrders(`Never run this in production. See:\n${paste}Always ask first.`), [
      'Never run this in production.',
      'Always ask first.',
    ]);
  });

  it('are few per message', () => {
    assert.equal(
      standingOrders('Never do this. Never do that. Never go there. Never come here. Never look up. Never look down. Never again.').length,
      5,
    );
  });
});
