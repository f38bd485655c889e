import type { Projection } from '../../../src/core/context/projection/projection';

/** What the provider would refuse a prompt for; empty when nothing. */
export function promptFaults(messages: Projection['messages']): string[] {
  const faults: string[] = [];
  if (messages[0]?.role !== 'user') faults.push('the first message is not the user’s');
  if (messages.at(-1)?.role !== 'user') faults.push('the last message is not the user’s');
  for (const [i, { role, blocks }] of messages.entries()) {
    if (blocks.length === 0) faults.push(`message ${i} is empty`);
    if (role === messages[i + 1]?.role) faults.push(`message ${i} is followed by the same role`);
    const results = (messages[i + 1]?.blocks ?? []).flatMap((block) => (block.type === 'tool_result' ? [block.callId] : []));
    const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []));
    if (calls.length > 0 && calls.toSorted().join() !== results.toSorted().join())
      faults.push(`calls ${calls.join()} are answered by ${results.join()}`);
    const before = (messages[i - 1]?.blocks ?? []).flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []));
    for (const block of blocks) {
      if (block.type === 'text' && block.text.trim() === '') faults.push(`message ${i} has an empty text`);
      if (block.type === 'tool_result' && !before.includes(block.callId)) faults.push(`result ${block.callId} has no call`);
    }
  }
  return faults;
}
