/** A frame as somebody reads it who knows nothing but the seal. */
export interface ReadFrame {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The text of a frame that is closed behind itself is empty. */
  readonly text: string;
  readonly inside: readonly ReadFrame[];
}

/**
 * Reads the frames of a text by their seal alone, written apart from the code that makes them. Throws for whatever is no tree of frames:
 * a tag that nothing closes, an end without a beginning, the seal anywhere but in a tag.
 */
export function readFrames(text: string, seal: string): ReadFrame[] {
  const stack: { tag: string; attributes: Record<string, string>; from: number; inside: ReadFrame[] }[] = [
    { tag: '', attributes: {}, from: 0, inside: [] },
  ];
  let at = 0;
  for (;;) {
    const found = text.indexOf(seal, at);
    if (found === -1) break;
    const start = text.lastIndexOf('<', found);
    const head = text.slice(start, found);
    const closing = /^<\/([a-z-]+)-$/.exec(head);
    const opening = /^<([a-z][a-z-]*)-$/.exec(head);
    let end = found + seal.length;
    if (closing) {
      const open = stack.pop()!;
      if (stack.length === 0 || open.tag !== closing[1] || text[end] !== '>')
        throw new Error(`an end of ${closing[1]} without a beginning: ${around(text, start)}`);
      if (text[start - 1] !== '\n') throw new Error(`an end that is not on a line of its own: ${around(text, start)}`);
      stack
        .at(-1)!
        .inside.push({ tag: open.tag, attributes: open.attributes, text: text.slice(open.from, start - 1), inside: open.inside });
      at = end + 1;
      continue;
    }
    if (!opening) throw new Error(`the seal stands outside of a tag: ${around(text, found)}`);
    const attributes: Record<string, string> = {};
    for (;;) {
      const attribute = /^ ([a-z-]+)=("[^"<>\n\r\u2028\u2029]*"|'[^'<>\n\r\u2028\u2029]*')/.exec(text.slice(end, end + 4_000));
      if (!attribute) break;
      attributes[attribute[1]!] = attribute[2]!.slice(1, -1);
      end += attribute[0].length;
    }
    const tag = opening[1]!;
    if (text.startsWith('/>', end)) {
      stack.at(-1)!.inside.push({ tag, attributes, text: '', inside: [] });
      at = end + 2;
    } else if (text.startsWith('>\n', end)) {
      stack.push({ tag, attributes, from: end + 2, inside: [] });
      at = end + 2;
    } else throw new Error(`a tag that does not end: ${around(text, start)}`);
  }
  if (stack.length !== 1) throw new Error(`nothing closes ${stack.at(-1)!.tag}`);
  return stack[0]!.inside;
}

/** `data file(notice cut)`: tags and kinds, without texts. */
export function outlineOf(frames: readonly ReadFrame[]): string {
  return frames
    .map(
      ({ tag, attributes, inside }) =>
        [tag, attributes['kind']].filter(Boolean).join(' ') + (inside.length === 0 ? '' : `(${outlineOf(inside)})`),
    )
    .join(', ');
}

function around(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - 40), at + 80));
}
