import * as z from 'zod/mini';

/** What every provider with images takes. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type ImageType = (typeof imageTypes)[number];

/** Bytes. Anthropic takes 5 MB (5,242,880) of an image in base64, which is four thirds of it. */
export const mostImageBytes = 3_932_160;

/**
 * Bytes of all images of a request. Anthropic takes 32 MB of JSON, in which an image is four thirds of its bytes: this leaves 5 MB for all
 * else. What is above it goes down to half, so that the prompt's prefix changes once for many images.
 */
export const mostImageBytesTogether = 20_000_000;

/**
 * Pixels of a side. Anthropic refuses a request with a larger image, and with it every later one of the session; beside more than
 * `mostLargeImages` images it takes fewer pixels (Anthropic, "Vision: ensuring image quality", and the words of its refusals).
 */
export const mostImageSide = 8_000;
export const mostImageSideOfMany = 2_000;
export const mostLargeImages = 20;

/**
 * What goes with a message, or came with a result. The content is a blob of the store: bytes of an image, UTF-8 text of everything else.
 */
export const Attachment = z.object({
  kind: z.enum(['image', 'file', 'selection', 'folder', 'problems', 'terminal', 'changes', 'session']),
  name: z.string(),
  /** sha256 of the content-addressed blob. */
  hash: z.string(),
  mime: z.string(),
  /** Relative to the workspace, `/`-separated; of what lies there. */
  path: z.optional(z.string()),
  /** First and last line, from 1, of a part of a file. */
  lines: z.optional(z.tuple([z.number(), z.number()])),
  /**
   * The content takes so many: text as our tokenizer counts it, images as providers charge them. The bytes never change, so it is counted
   * once.
   */
  tokens: z.optional(z.number()),
});
export type Attachment = z.infer<typeof Attachment>;

/** What the user has written: on its way, in the queue or in the composer. */
export interface Written {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

export const nothingWritten: Written = { text: '', attachments: [] };

export function isSame(a: Written, b: Written): boolean {
  return (
    a.text === b.text &&
    a.attachments.length === b.attachments.length &&
    a.attachments.every(({ hash }, index) => b.attachments[index]?.hash === hash)
  );
}

export function isBlank({ text, attachments }: Written): boolean {
  return text.trim() === '' && attachments.length === 0;
}

/** More than any image costs (context/projection/attachments.ts): for one whose size nobody has looked at. */
const unknownTokens = 1_600;
/** The tags around a text take 35–53 tokens, 46 in the middle, for paths of 4–50 characters with and without lines (o200k). */
const framingTokens = 46;

/** Uncalibrated tokens in the prompt. */
export function attachmentTokens({ tokens = unknownTokens }: Attachment): number {
  return tokens + framingTokens;
}

/** `src/tide.js lines 3–9`. */
export function attachmentTitle({ name, path, lines }: Pick<Attachment, 'name' | 'path' | 'lines'>): string {
  const range = lines === undefined ? '' : lines[0] === lines[1] ? ` line ${lines[0]}` : ` lines ${lines[0]}–${lines[1]}`;
  return `${path ?? name}${range}`;
}

/** Stands for attachments where only text can: in summaries, in searches, in a transcript. */
export function attachmentNote(attachments: readonly Attachment[]): string {
  return attachments.map((attachment) => `[attached ${attachment.kind}: ${attachmentTitle(attachment)}]`).join('\n');
}

/** Both, one after the other: what comes back stands in front of what has been written since. */
export function joinedWritten(first: Written, then: Written): Written {
  const texts = [first, then].filter((one) => !isBlank(one)).map(({ text }) => text);
  return { text: texts.join('\n\n'), attachments: [...first.attachments, ...then.attachments] };
}

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly at: number;
  /** What else is stored as attachments cannot be understood; it stays stored. */
  readonly unreadable?: boolean;
}

/** Waits for the running turn to end. */
export interface QueuedMessage {
  readonly id: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
}
