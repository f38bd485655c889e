import assert from 'node:assert/strict';
import type { ModelRequest } from '../../../src/core/models/modelRequest';
import type { ConversationRig } from './conversationRig';
import { says } from './scriptedModel';

const minute = 60_000;

/** Reports what a provider would that keeps a prompt for five minutes. */
export class CachedTalk {
  private last = { text: '', at: -Infinity };

  constructor(private readonly rig: ConversationRig) {}

  async say(text: string, answer = 'Understood.'): Promise<void> {
    const { rig } = this;
    rig.model.scripts.push((request) => says(answer, this.usage(request)));
    const outcome = await rig.conversation.send(text);
    assert.equal(outcome.error, null);
    await rig.conversation.idle();
  }

  usage(request: ModelRequest) {
    const { rig } = this;
    const text = `${request.system}${JSON.stringify(request.tools)}${JSON.stringify(request.messages.map(({ role, blocks }) => [role, blocks]))}`;
    const all = Math.ceil(text.length / 4);
    const isWarm = rig.clock.now() - this.last.at < 5 * minute;
    let shared = 0;
    while (isWarm && shared < text.length && text[shared] === this.last.text[shared]) shared++;
    const cacheRead = Math.floor(shared / 4);
    this.last = { text, at: rig.clock.now() };
    return { input: 0, output: 10, cacheRead, cacheWrite: all - cacheRead };
  }
}
