import assert from 'node:assert/strict';
import type { PolicyOverrides, PresetName } from '../../../src/core/context/policy/resolvePolicy';
import type { ModelRequest } from '../../../src/core/models/modelRequest';
import type { ContentOf, StoredEntry } from '../../../src/core/session/entry';
import { ConversationRig } from './conversationRig';
import { says, type Script } from './scriptedModel';

/** A conversation under a preset, over a real store, whose size is what its scripted provider reports. */
export class SeedRun {
  private constructor(readonly rig: ConversationRig) {}

  static async open(policy: PresetName, options: { window?: number; overrides?: PolicyOverrides } = {}): Promise<SeedRun> {
    const rig = await ConversationRig.create({ window: options.window ?? 10_000 });
    rig.policy = policy;
    rig.overrides = options.overrides ?? {};
    await rig.conversation.refreshModel();
    return new SeedRun(rig);
  }

  dispose(): Promise<void> {
    return this.rig.dispose();
  }

  /** One exchange: two messages of about `tokens` each. `size`: what the provider reports for the context after it. */
  async exchange(label: string, { size, tokens = 60 }: { size?: number; tokens?: number } = {}): Promise<void> {
    const filler = this.rig.words(tokens);
    this.rig.model.scripts.push(says(`answer ${label} ${filler}`, size === undefined ? undefined : { input: size - 1, output: 1 }, 1));
    const outcome = await this.rig.conversation.send(`question ${label} ${filler}`);
    assert.equal(outcome.error, null);
  }

  /** Exchanges `from` to `to`, the last of which is reported to leave a context of `size`. */
  async talk(from: number, to: number, size?: number): Promise<void> {
    for (let i = from; i <= to; i++) await this.exchange(String(i), i === to && size !== undefined ? { size } : {});
  }

  async send(text: string, ...scripts: Script[]): Promise<ModelRequest> {
    this.rig.model.scripts.push(...scripts);
    await this.rig.conversation.send(text);
    return this.rig.model.requests.at(-1)!;
  }

  get compactions(): readonly ContentOf<'compaction'>[] {
    return this.rig.events.flatMap((event) =>
      event.type === 'entry_appended' && event.entry.content.type === 'compaction' ? [event.entry.content] : [],
    );
  }

  get lastRequest(): ModelRequest {
    return this.rig.model.requests.at(-1)!;
  }

  async all(): Promise<StoredEntry[]> {
    return [...(await this.rig.store.page(this.rig.session, { limit: 1_000 })).entries];
  }
}

/** `role: first words of its text`, block by block. */
export function outline({ messages }: ModelRequest): string[] {
  return messages.flatMap(({ role, blocks }) =>
    blocks.map((block) => {
      const text = block.type === 'tool_use' ? `calls ${block.name}` : block.type === 'image' ? `image ${block.name}` : block.text;
      return `${role}: ${text.replace(/^(question|answer) (\S+) [\s\S]*$/, '$1 $2')}`;
    }),
  );
}
