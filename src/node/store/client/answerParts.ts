import type { StoredEntry } from '../../../core/session/entry';
import { goesWhole, joinPart, splitEntries } from './entryParts';
import type { Answer } from './storeProtocol';

/** Sends the answer to a request. Lists of many or long entries go in parts, each once `send` is ready for the next. */
export async function sendAnswer(id: number, value: unknown, send: (answer: Answer) => void | Promise<void>): Promise<void> {
  const { entries, rest, parts } = takeEntries(value);
  for (const part of splitEntries(entries)) await send({ type: 'part', id, part });
  await send({ type: 'done', id, value: rest, parts });
}

/** Puts the parts of one answer together again. */
export class AnswerParts {
  private readonly entries: StoredEntry[] = [];

  add({ part }: Extract<Answer, { type: 'part' }>): void {
    this.entries.push(...joinPart(part));
  }

  finish({ parts, value }: Extract<Answer, { type: 'done' }>): unknown {
    if (parts === 'value') return this.entries;
    return parts === 'property' ? { ...(value as object), entries: this.entries } : value;
  }
}

function takeEntries(value: unknown): { entries: readonly StoredEntry[]; rest: unknown; parts: 'none' | 'value' | 'property' } {
  if (isLongList(value)) return { entries: value, rest: undefined, parts: 'value' };
  if (typeof value === 'object' && value !== null && 'entries' in value && isLongList(value.entries)) {
    return { entries: value.entries, rest: { ...value, entries: [] }, parts: 'property' };
  }
  return { entries: [], rest: value, parts: 'none' };
}

function isLongList(value: unknown): value is readonly StoredEntry[] {
  return (
    Array.isArray(value) &&
    typeof value[0] === 'object' &&
    value[0] !== null &&
    'seq' in value[0] &&
    'content' in value[0] &&
    !goesWhole(value as StoredEntry[])
  );
}
