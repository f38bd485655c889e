import assert from 'node:assert/strict';
import type { PromptMessage } from '../../../src/core/context/projection/projection';

/** What a provider demands of the messages of a request. */
export function assertValidPrompt(messages: readonly PromptMessage[]): void {
  assert.deepEqual([messages[0]?.role, messages.at(-1)?.role], ['user', 'user']);
  for (const [index, { role, blocks }] of messages.entries()) {
    assert.notEqual(role, messages[index - 1]?.role);
    for (const block of blocks) if (block.type === 'text') assert.notEqual(block.text.trim(), '');
    const called = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : [])).sort();
    const answered = (messages[index + 1]?.blocks ?? []).flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])).sort();
    assert.deepEqual(answered, called);
  }
  assert.ok(messages.filter(({ cacheBreakpoint }) => cacheBreakpoint).length <= 3, 'the fourth is the end of the system prompt');
}
