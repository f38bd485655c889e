import type { DisposableStore } from '../../core/base/disposable';
import type { Event } from '../../core/base/event';
import type { CompactionResult } from '../../core/compaction/compactor';
import type { ConversationEvent } from '../../core/chat/events';

/** What comes of the compaction that the running turn makes next; nothing when it ends without one, or what `until` belongs to ends first. */
export function foldedByTurn(onDidEmit: Event<ConversationEvent>, until: DisposableStore): Promise<CompactionResult> {
  return new Promise((resolve) => {
    const nothing = { entry: null, message: null };
    const subscription = onDidEmit((event) => {
      // A preview that the user agrees to ends with neither, before the compaction begins.
      const hasFolded = event.type === 'compaction_ended' && (event.entry !== null || event.message !== null);
      if (!hasFolded && event.type !== 'turn_ended') return;
      resolve(hasFolded ? { entry: event.entry, message: event.message } : nothing);
      until.delete(waiting);
    });
    const waiting = until.add({
      dispose: () => {
        subscription.dispose();
        resolve(nothing);
      },
    });
  });
}
