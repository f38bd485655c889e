import assert from 'node:assert/strict';
import { ModelError } from '../../../src/core/models/modelEvent';
import type { ModelRequest } from '../../../src/core/models/modelRequest';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';

describe('the size of a prompt that no answer has measured', () => {
  let rig: ConversationRig;
  const counted: ModelRequest[] = [];

  beforeEach(async () => {
    counted.length = 0;
    rig = await ConversationRig.create({ window: 20_000 });
    rig.model.countTokens = async (request) => {
      counted.push(request);
      return 1_234;
    };
  });
  afterEach(() => rig.dispose());

  const used = () => rig.conversation.snapshot.used;

  async function talk(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++) {
      rig.model.scripts.push(says('Noted.', { input: 500 * (turn + 1), output: 4 }));
      await rig.conversation.send(rig.words(700));
    }
  }

  it('is never asked for while answers measure it', async () => {
    await talk(3);
    await rig.conversation.idle();
    assert.equal(counted.length, 0);
  });

  it('is asked for once after a compaction, and the gauge counts on from the answer', async () => {
    await talk(4);
    const { entry } = await rig.conversation.compact();
    assert.ok(entry);
    await rig.until(() => rig.conversation.snapshot.used < 1_234 + 50 && rig.conversation.snapshot.used > 1_234 - 100);
    const { provenance } = rig.conversation.snapshot;
    assert.deepEqual([counted.length, provenance], [1, 'estimated']);
    const before = used();
    rig.model.scripts.push(says('Yes.'));
    await rig.conversation.send('short');
    assert.ok(used() > before && used() < before + 100, `${before} → ${used()}`);
    assert.equal(counted.length, 1);
  });

  it('survives a restart', async () => {
    await talk(4);
    await rig.conversation.compact();
    await rig.until(async () => (await rig.store.liveBranch(rig.session)).lastUsage?.kind === 'count');
    const before = used();
    await rig.reopen();
    assert.deepEqual([used(), counted.length], [before, 1]);
  });

  it('is asked for after an undo and after a change of model', async () => {
    await talk(4);
    await rig.conversation.compact();
    await rig.until(() => counted.length === 1);
    await rig.conversation.undoCompaction();
    await rig.until(() => counted.length === 2);
    rig.modelId = 'scripted-2';
    await rig.conversation.refreshModel();
    await rig.until(() => counted.length === 3);
    assert.equal(counted[2]!.model, 'scripted-2');
  });

  it('is known again without asking when another model was only looked at', async () => {
    await talk(4);
    const { used: before, provenance } = rig.conversation.snapshot;
    rig.modelId = 'scripted-2';
    await rig.conversation.refreshModel();
    await rig.until(() => counted.length === 1);
    rig.modelId = 'scripted-1';
    await rig.conversation.refreshModel();
    await rig.conversation.idle();
    assert.deepEqual([used(), rig.conversation.snapshot.provenance, counted.length], [before, provenance, 1]);
    assert.equal(provenance, 'exact');
  });

  it('stays estimated when the provider will not count, without asking again for the same prompt', async () => {
    let asked = 0;
    rig.model.countTokens = async () => {
      asked++;
      throw new ModelError({ reason: 'rate_limited', detail: '' });
    };
    await talk(4);
    await rig.conversation.compact();
    const estimate = used();
    await rig.conversation.refreshModel();
    await rig.conversation.refreshModel();
    assert.deepEqual([asked, used()], [1, estimate]);
  });
});
