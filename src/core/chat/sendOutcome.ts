import { english } from '../l10n';
import type { CompactionResult } from '../compaction/compactor';
import type { TurnError } from './events';
import type { TurnOutcome } from './turn/turn';

export interface SendOutcome extends TurnOutcome {
  readonly id: string;
  /** False when the turn was never begun: refused, taken out of the queue, or the conversation was closed. */
  readonly begun: boolean;
}

export const outOfQueue: TurnError = { reason: 'cancelled', message: english('Taken out of the queue.') };
export const elsewhere: TurnError = {
  reason: 'elsewhere',
  message: english('Another window is answering in this session. Try again when it has finished.'),
};

export function notBegun(id: string, error: TurnError): SendOutcome {
  return { id, begun: false, ok: false, text: '', error };
}

export function noRecord(message: string): CompactionResult {
  return { entry: null, message };
}
