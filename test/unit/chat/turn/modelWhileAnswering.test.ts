import assert from 'node:assert/strict';
import type { ModelEvent } from '../../../../src/core/models/modelEvent';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { calls, fails, says } from '../../../support/chat/scriptedModel';

const usage = { input: 2_000, output: 10, cacheRead: 0, cacheWrite: 0 };
const thought: ModelEvent = { type: 'block', index: 0, block: { type: 'thinking', text: 'hm', signature: 'of scripted-1' } };
const price: Readonly<Record<string, number>> = { 'scripted-1': 3, 'scripted-2': 0 };

describe('a model that is chosen while another one answers', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create({ window: 50_000, costOf: (_, model) => price[model] ?? null });
  });
  afterEach(() => rig.dispose());

  /** Plays the script up to `hold`, chooses the other model, and lets the rest come. */
  async function chosenMeanwhile(before: readonly ModelEvent[], rest: readonly ModelEvent[], ...following: readonly ModelEvent[][]) {
    const gate = rig.gate();
    rig.model.scripts.push([...before, { hold: gate.opened }, ...rest], ...following);
    const sending = rig.conversation.send('Which tide?', 'm1');
    await rig.until(() => rig.model.requests.length > 0 && rig.events.some(({ type }) => type === 'entry_appended'));
    rig.modelId = 'scripted-2';
    await rig.conversation.setModel('scripted/scripted-2');
    gate.open();
    return sending;
  }
  const reported = () => rig.events.flatMap((event) => (event.type === 'usage_reported' ? [[event.model, event.cost]] : []));
  const calibrated = async () => (await rig.store.calibration('scripted/scripted-2')).length;

  it('is asked next: what comes, and what it costs, is still the other one’s', async () => {
    const outcome = await chosenMeanwhile([thought], says('High at noon.', usage));
    const { entries } = await rig.store.page(rig.session, { limit: 10 });
    assert.deepEqual(
      [outcome.ok, entries.map(({ content }) => ('model' in content ? content.model : content.type)), reported(), await calibrated()],
      [true, ['message', 'scripted-1', 'scripted-1'], [['scripted-1', 3]], 0],
    );
    rig.model.scripts.push(says('At six.', usage));
    await rig.conversation.send('And low?', 'm2');
    const after = (await rig.store.page(rig.session, { limit: 10 })).entries.flatMap(({ content }) =>
      content.type === 'model_change' ? [content.model] : [],
    );
    assert.deepEqual([after, rig.lastSent.includes('of scripted-1'), reported().at(-1)], [['scripted-2'], false, ['scripted-2', 0]]);
  });

  it('answers the results of calls that the other one has made', async () => {
    const outcome = await chosenMeanwhile([], [...calls('echo', { text: 'tide' }, 'c1')], says('High at noon.', usage));
    assert.deepEqual(
      [outcome.text, rig.model.requests.map(({ model }) => model), reported()],
      [
        'High at noon.',
        ['scripted-1', 'scripted-2'],
        [
          ['scripted-1', 3],
          ['scripted-2', 0],
        ],
      ],
    );
  });

  it('is not taken to be the one that has failed, or that takes less than was thought', async () => {
    rig.policy = 'keep-recent';
    rig.overrides = { 'compaction.retryOnOverflow': false };
    const outcome = await chosenMeanwhile([], fails('overflow', { window: 4_000 }));
    assert.deepEqual([outcome.error?.reason, rig.conversation.snapshot.window], ['overflow', 50_000]);
  });
});
