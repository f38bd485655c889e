import { createMemoryTool } from '../../core/memory/memoryTool';
import type { MemoryNotes, SessionStore } from '../../core/ports';
import { createRecallTool } from '../../core/recall/recallTool';
import { newSeal } from '../../node/runtime/ids';
import type { RunSharedTool } from './sharedTools';

export interface SharedToolDeps {
  readonly store: () => Promise<SessionStore>;
  readonly notes: () => Promise<MemoryNotes>;
  /** UUID of the session on show. */
  readonly session: () => string | null;
}

/** Our own tools as other agents may call them: only what reads. */
export function sharedToolRuns({ store, notes, session }: SharedToolDeps): RunSharedTool {
  return async (name, input, signal) => {
    const recall = async () => createRecallTool({ store: await store(), session, newSeal });
    const run = {
      recall: async () => (await recall()).run(input, signal),
      search: async () => (await recall()).run({ ...input, allSessions: true }, signal),
      notes: async () => createMemoryTool(await notes()).run({ ...input, command: 'view' }, signal),
    }[name];
    return (await run()).text;
  };
}
