/** A piece of an answer that is still streaming. The chunks of an entry are dropped when the entry itself is appended. */
export interface PartialChunk {
  /** UUID that the finished entry will have. */
  readonly entry: string;
  readonly session: string;
  readonly parent: string | null;
  readonly kind: 'message' | 'thinking';
  readonly provider: string;
  readonly model: string;
  readonly createdAt: number;
  /** It holds only what was added since the last chunk. */
  readonly text: string;
  /** Length of the entry's text before this chunk, in UTF-16 units. A chunk that is sent again is recognised by it. */
  readonly offset?: number;
}
