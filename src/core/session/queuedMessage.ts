import type { Attachment } from './attachment';

/** Waits for the running turn to end. */
export interface QueuedMessage {
  readonly id: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
}
