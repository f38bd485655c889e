/**
 * An attachment of a session, and what is to be done about its bytes: they are to be sent (`unsent`) or fetched (`wanted`; `asked`:
 * somebody looks at them; `tried`: they were not there), are here and there (`kept`), or are to be let go with their session (`gone`).
 */
export type AttachmentState = 'unsent' | 'wanted' | 'asked' | 'tried' | 'kept' | 'gone';

export interface AttachmentPlace {
  readonly session: string;
  readonly hash: string;
  readonly mime: string;
  /** When it was said. */
  readonly at: number;
  /** In so many records; 1 where its bytes are not here. */
  readonly pieces: number;
  readonly state: AttachmentState;
}

/** What a piece of an attachment has made of it; `damaged`: all of them together are not what its hash says. */
export type CameAs = 'part' | 'whole' | 'damaged';
