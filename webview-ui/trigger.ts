export interface Trigger {
  readonly kind: 'mention' | 'slash';
  readonly query: string;
  /** Of what a choice replaces. */
  readonly start: number;
  readonly end: number;
}

/** What the text in front of the caret asks for: `@` behind a space, or a slash as the very first character. */
export function triggerAt(text: string, caret: number): Trigger | null {
  // Longer words are no names that anyone types: a long paste costs nothing.
  const before = text.slice(Math.max(0, caret - 200), caret);
  const mention = /(?:^|[\s(])@([^\s@]*)$/.exec(before);
  if (mention) return { kind: 'mention', query: mention[1]!, start: caret - mention[1]!.length - 1, end: caret };
  const slash = caret <= 200 ? /^\/([a-z]*)$/i.exec(before) : null;
  return slash ? { kind: 'slash', query: slash[1]!.toLowerCase(), start: 0, end: caret } : null;
}
