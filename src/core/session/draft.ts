import type { Attachment } from './attachment';

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly at: number;
  /** What else is stored as attachments cannot be understood; it stays stored. */
  readonly unreadable?: boolean;
}
