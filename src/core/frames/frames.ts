/** Opens what the program itself says in a prompt. */
export const noticeTag = 'threadkeeper-notice';
/** Opens the state of the folded part of a conversation. */
export const stateTag = 'conversation-state';
/** Opens what somebody else has written. */
export const dataTag = 'data';

/** Everything that the program says in a prompt. */
export type NoticeKind = 'notes' | 'usage' | 'summary' | 'start' | 'continue' | 'compression' | 'cut' | 'masked' | 'missing' | 'skill';
/** Everything that is neither the user's words nor the program's. */
export type DataKind =
  | 'file'
  | 'selection'
  | 'folder'
  | 'problems'
  | 'terminal'
  | 'changes'
  | 'session'
  | 'notes'
  | 'pinned'
  | 'other-branch'
  | 'imported'
  | 'offline-answer';
/** What a summariser is given. */
export type MaterialTag = 'conversation' | 'previous-state' | 'summary';

/** Text in which nobody but the program can have written the seal. The compiler lets nothing else into a frame. */
export type Sealed = string & { readonly sealed: true };

type Attributes = Readonly<Record<string, string | undefined>>;

/** Digits of 96 bits. A tokenizer takes them in threes: 10 tokens, where the same bits in base64 are 11 and in hexadecimal 14. */
export const sealDigits = 29;
/**
 * Tokens of a frame around a text, two seals and one `kind` included (o200k: 37, of data and a state 30). Every other attribute comes on
 * top, which nobody counts
 * but in attachments.
 */
export const frameTokens = 37;
const standIn = '…';
/** Characters; paths may be longer than names of files. */
const longestName = 1_000;

/** 96 random bits as a seal. */
export function sealOf(bytes: Uint8Array): string {
  return bytes
    .slice(0, 12)
    .reduce((value, byte) => value * 256n + BigInt(byte), 0n)
    .toString()
    .padStart(sealDigits, '0');
}

/**
 * Parts what the program says and what others have written from each other, in every prompt. The tags of a frame carry the seal of the
 * session, 96 random bits that nobody outside knows; and where somebody has learnt them all the same (a model repeats them, a prompt
 * is shared), they are taken out of every text that is not the program's. So a text can neither begin nor end a frame, whatever it
 * looks like, and nothing in it has to be rewritten for that.
 */
export class Frames {
  constructor(readonly seal: string) {}

  /** Text that is not the program's, ready to stand in a prompt or in a frame. */
  plain(text: string): Sealed {
    return (text.includes(this.seal) ? text.replaceAll(this.seal, standIn) : text) as Sealed;
  }

  /** The same for a value of JSON. */
  plainValue(value: unknown): unknown {
    const json = JSON.stringify(value) as string | undefined;
    return json?.includes(this.seal) ? JSON.parse(json.replaceAll(this.seal, standIn)) : value;
  }

  /** Puts texts together. */
  join(...parts: readonly (Sealed | ' ' | '\n' | '\n\n')[]): Sealed {
    return parts.join('') as Sealed;
  }

  notice(kind: NoticeKind, text: string, attributes: Attributes = {}): Sealed {
    return this.block(noticeTag, { kind, ...attributes }, this.plain(text));
  }

  /** A notice around frames that are there already. */
  noticeAround(kind: NoticeKind, text: Sealed, attributes: Attributes = {}): Sealed {
    return this.block(noticeTag, { kind, ...attributes }, text);
  }

  /** A notice that stands in the place of a part of a text. */
  mark(kind: NoticeKind, attributes: Attributes): Sealed {
    return `${this.opening(noticeTag, { kind, ...attributes })}/>` as Sealed;
  }

  state(text: string): Sealed {
    return this.block(stateTag, {}, this.plain(text));
  }

  data(kind: DataKind, text: Sealed, attributes: Attributes = {}): Sealed {
    return this.block(dataTag, { kind, ...attributes }, text.trim() === '' ? ('(it is empty)' as Sealed) : text);
  }

  material(tag: MaterialTag, text: string): Sealed {
    return this.block(tag, {}, this.plain(text));
  }

  /** What recall has found: a stored entry, word for word. */
  entry(attributes: Attributes, text: string): Sealed {
    return this.block('entry', attributes, this.plain(text));
  }

  /**
   * Stored entries of one line each, under one pair of tags: every line begins with what the program says of it, an entry's with a number
   * sign and a heading with anything else.
   */
  entries(
    parts: readonly { readonly heading: string; readonly lines: readonly { readonly about: string; readonly text: string }[] }[],
  ): Sealed {
    const line = (text: string) => oneLine(this.plain(text));
    const sections = parts.map(({ heading, lines }) =>
      [line(heading).replace(/^#/, ' #'), ...lines.map(({ about, text }) => `#${line(about)}: ${line(text)}`)].join('\n'),
    );
    return this.block('entries', {}, sections.join('\n') as Sealed);
  }

  private block(tag: string, attributes: Attributes, text: Sealed): Sealed {
    return `${this.opening(tag, attributes)}>\n${text}\n</${tag}-${this.seal}>` as Sealed;
  }

  private opening(tag: string, attributes: Attributes): string {
    const about = Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [` ${name}=${quoted(this.plain(value))}`],
    );
    return `<${tag}-${this.seal}${about.join('')}`;
  }
}

/** A name of somebody else's stays in its quotes and on its line. */
function quoted(value: string): string {
  const text = oneLine(value).slice(0, longestName).replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return text.includes('"') && !text.includes("'") ? `'${text}'` : `"${text.replaceAll('"', '&quot;')}"`;
}

/** Every character that some reader takes for the end of a line. */
const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** A text under a heading or behind the mark of a list: none of its lines begins where those of the program begin. */
export function indented(text: string): string {
  return text.replace(lineEnd, '\n  ');
}

/** A text for people below headings that begin with a mark: none of its lines begins with that. */
export function unmarked(mark: string, text: string): string {
  return text.replace(new RegExp(`(^|[\\n\\r\\v\\f\\u0085\\u2028\\u2029])(?=${mark})`, 'g'), '$1 ');
}

/** Tells whether all of a text is one line, for whoever reads it. */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(text);
}

/** A name in a line of the program's. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

/** Whether a block of a prompt is a notice or a state, of whatever session; `kind`: a notice of that kind. */
export function isFramed(text: string, kind?: NoticeKind): boolean {
  return kind === undefined
    ? anyFrame.test(text)
    : text.startsWith(` kind="${kind}"`, noticeTag.length + sealDigits + 2) && anyFrame.test(text);
}

const anyFrame = new RegExp(`^<(?:${noticeTag}|${stateTag}|${dataTag})-\\d{${sealDigits}}[ >]`);
