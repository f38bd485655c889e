import type { SessionStore } from '../../../src/core/ports';
import { smallModel, words } from '../chat/chatSession';
import { testUuid, userMessage } from './storeTemp';

const minute = 60_000;

/** About 24,000 tokens that a provider was paid to keep so many milliseconds ago. */
export async function writeTalk(
  store: SessionStore,
  title: string,
  ago: number,
  { model = smallModel, text = (part: number) => `Part ${part} of the harbour rules: ${words(3_000, part)}` } = {},
): Promise<void> {
  const at = Date.now() - ago;
  const { uuid } = await store.createSession({ uuid: testUuid(), channel: 'vscode', title, createdAt: at - 60 * minute });
  const entries = [
    userMessage(uuid, null, `The mooring code is 7741. ${words(3_000, 1)}`, { createdAt: at - 8 * minute, tokenEstimate: null }),
  ];
  for (let i = 2; i <= 8; i++) {
    const role = i % 2 === 0 ? 'assistant' : 'user';
    entries.push(
      userMessage(uuid, entries.at(-1)!.uuid, '', {
        createdAt: at - (9 - i) * minute,
        tokenEstimate: null,
        content: role === 'assistant' ? { type: 'message', role, text: text(i), model } : { type: 'message', role, text: text(i) },
      }),
    );
  }
  const usage = { provider: 'anthropic', model, kind: 'turn', input: 10, output: 3_000, cacheRead: 0, cost: null } as const;
  await store.append(uuid, { entries, usage: [{ ...usage, entry: entries.at(-1)!.uuid, cacheWrite: 24_000, at }] });
}
