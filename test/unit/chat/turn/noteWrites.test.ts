import assert from 'node:assert/strict';
import { createMemoryTool } from '../../../../src/core/memory/memoryTool';
import type { MemoryNotes } from '../../../../src/core/ports';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { calls, says } from '../../../support/chat/scriptedModel';

describe('what the model writes into its notes', () => {
  it('is recorded with the result of the call that wrote it', async () => {
    const rig = await ConversationRig.create();
    try {
      const files = new Map<string, string>();
      const notes = {
        list: async () => [],
        read: async (path: string) => files.get(path),
        write: async (path: string, text: string) => void files.set(path, text),
      } as unknown as MemoryNotes;
      rig.moreTools = [createMemoryTool(notes)];
      await rig.reopen();
      rig.model.scripts.push(
        calls('memory', { command: 'create', path: '/memories/plan.md', file_text: 'Ship on Friday.' }, 'c1'),
        says('noted'),
      );
      assert.equal((await rig.conversation.send('remember the plan')).ok, true);
      const result = rig.conversation.entries.find(({ content }) => content.type === 'tool_result')!;
      const writes = await rig.store.memoryWrites(rig.session, { limit: 10 });
      assert.deepEqual(
        writes.map(({ entry, path, op, bytes }) => [entry, path, op, bytes]),
        [[result.uuid, 'plan.md', 'create', 15]],
      );
      rig.model.scripts.push(calls('memory', { command: 'view', path: '/memories/plan.md' }, 'c2'), says('read'));
      await rig.conversation.send('and now?');
      assert.equal((await rig.store.memoryWrites(rig.session, { limit: 10 })).length, 1, 'looking is no writing');
    } finally {
      await rig.dispose();
    }
  });
});
