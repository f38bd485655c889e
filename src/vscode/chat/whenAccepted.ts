import type { SendOutcome } from '../../core/chat/sendOutcome';
import type { ConversationEvent } from '../../core/chat/events';
import type { Event } from '../../core/base/event';

/** What did not reach the history: the text still belongs to the user. */
export class NotAcceptedError extends Error {
  override readonly name = 'NotAcceptedError';
}

/**
 * Starts a turn and resolves as soon as its message is on disk or in the queue (for a retry: as soon as it is under way); how the
 * turn goes on is told by events. Rejects with `NotAcceptedError`, in words for the user, when it ended before that.
 */
export function whenAccepted(
  onDidEmit: Event<ConversationEvent>,
  id: string,
  kind: 'send' | 'retry',
  start: () => Promise<SendOutcome>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOurs = false;
    const subscription = onDidEmit((event) => {
      if (event.type === 'turn_started') isOurs = event.id === id;
      if (event.type === 'queue_changed' ? event.queue.some((message) => message.id === id) : isOurs && begins(event, kind)) accept();
    });
    const accept = () => {
      subscription.dispose();
      resolve();
    };
    start().then(
      ({ error }) => {
        subscription.dispose();
        if (error && error.reason !== 'cancelled') reject(new NotAcceptedError(error.message));
        else resolve();
      },
      (error: unknown) => {
        subscription.dispose();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

function begins(event: ConversationEvent, kind: 'send' | 'retry'): boolean {
  if (event.type !== 'entry_appended') return kind === 'retry' && event.type === 'phase_changed';
  const { content } = event.entry;
  return kind === 'retry' || (content.type === 'message' && content.role === 'user');
}
