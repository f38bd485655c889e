import type { Frames, Sealed } from '../../frames/frames';
import type { ModelBlock, ModelMessage } from '../../models/modelRequest';
import type { SessionStore } from '../../ports';
import {
  attachmentTitle,
  imageTypes,
  mostImageBytes,
  mostImageBytesTogether,
  mostImageSide,
  mostImageSideOfMany,
  mostLargeImages,
  type Attachment,
  type ImageType,
} from '../../session/userMessage';
import { excerpt } from './excerpt';
import type { AttachmentBlock, PromptMessage } from './projection';

/**
 * Puts the content of attachments where the projection has left room for it. The same bytes always give the same blocks, so that the
 * prompt of the next turn keeps this one as its prefix. Rejects with `StoreError`; content that is gone is said to be gone, and so is an
 * image that the provider would refuse the request for: no message of the session would be answered any more.
 */
export async function fillAttachments(
  messages: readonly PromptMessage[],
  frames: Frames,
  store: Pick<SessionStore, 'blob'>,
): Promise<ModelMessage[]> {
  const contents = await Promise.all(
    messages.map(({ blocks }) => Promise.all(blocks.map((block) => (block.type === 'attachment' ? contentOf(block, store) : block)))),
  );
  const mostSide = mostSideAmong(contents.flat());
  const crowdedOut = withoutRoom(contents, mostSide);
  const refusal = (content: Content) => overLimits(content, mostSide) ?? (crowdedOut.has(content) ? noRoom : null);
  return messages.map((message, at) => ({
    ...message,
    blocks: contents[at]!.flatMap((block) => (block.type === 'content' ? filled(block, refusal(block), frames) : [block])),
  }));
}

const noRoom = `a request takes ${mostImageBytesTogether} bytes of images, and later ones need the room.`;

/**
 * The oldest images, where all of them are more than a request takes. Those of earlier messages make room in one go; those of one message
 * stay as far as they fit.
 */
function withoutRoom(contents: readonly (readonly (Content | ModelBlock)[])[], mostSide: number): ReadonlySet<Content> {
  const gone = new Set<Content>();
  let sum = 0;
  const sent: { readonly content: Content; readonly size: number; readonly at: number }[] = [];
  for (const [at, blocks] of contents.entries()) {
    for (const content of blocks) {
      if (content.type !== 'content' || !content.bytes || !imageTypeOf(content) || overLimits(content, mostSide) !== null) continue;
      sent.push({ content, size: content.bytes.length, at });
      sum += content.bytes.length;
    }
    if (sum <= mostImageBytesTogether) continue;
    while (sum > (sent[0]!.at < at ? mostImageBytesTogether / 2 : mostImageBytesTogether)) {
      const { content, size } = sent.shift()!;
      gone.add(content);
      sum -= size;
    }
  }
  return gone;
}

/** An attachment whose content has been read; undefined: it is gone. */
interface Content extends Omit<AttachmentBlock, 'type'> {
  readonly type: 'content';
  readonly bytes: Uint8Array | undefined;
  /** Null: it is no image, or none whose size is known. */
  readonly size: ImageSize | null;
}

async function contentOf(block: AttachmentBlock, store: Pick<SessionStore, 'blob'>): Promise<Content> {
  const bytes = await store.blob(block.attachment.hash);
  return { ...block, type: 'content', bytes, size: bytes && block.attachment.kind === 'image' ? imageSize(bytes) : null };
}

/**
 * Beside many images all that are above the lower limit are left out, whatever their age: the prompt's prefix then changes once, with the
 * image that makes them many, and not with every one behind it.
 */
function mostSideAmong(contents: readonly (Content | ModelBlock)[]): number {
  const images = contents.filter((one) => one.type === 'content' && imageTypeOf(one) && one.bytes && !overLimits(one));
  return images.length > mostLargeImages ? mostImageSideOfMany : mostImageSide;
}

/** Providers refuse a type that the bytes belie, and a document in the place of an image. Null: it is no image that they take. */
function imageTypeOf({ attachment: { kind, mime }, size }: Content): ImageType | null {
  return kind === 'image' ? (size?.mime ?? (isImageType(mime) ? mime : null)) : null;
}

/** Why an image is not sent, in words for the model; null: it is. */
function overLimits({ bytes, size }: Content, mostSide = mostImageSide): string | null {
  if (bytes && bytes.length > mostImageBytes) return `it has ${bytes.length} bytes, and ${mostImageBytes} are taken at most.`;
  if (!size || longSide(size) <= mostSide) return null;
  const beside = mostSide === mostImageSide ? '' : ` beside more than ${mostLargeImages} images`;
  return `it has ${size.width} × ${size.height} pixels, and ${mostSide} a side are taken at most${beside}. A smaller copy can be seen.`;
}

/** The text of an attachment as a frame of data. */
function attachmentText(
  kind: Exclude<Attachment['kind'], 'image'>,
  { name, path, lines }: Attachment,
  text: Sealed,
  frames: Frames,
): Sealed {
  return frames.data(kind, text, { name, path, lines: lines === undefined ? undefined : `${lines[0]}-${lines[1]}` });
}

/** `why` an image is not sent, in words for the model; null: it is. */
function filled(content: Content, why: string | null, frames: Frames): ModelBlock[] {
  const { attachment, limit, ref, callId, bytes } = content;
  const { kind, name, tokens = 0 } = attachment;
  const missing = (why: string): ModelBlock[] => [
    { type: 'text', text: frames.notice('missing', why, { attached: kind, name: attachmentTitle(attachment) }) },
  ];
  if (!bytes) return missing('What was attached here is missing in the history.');
  if (kind === 'image') {
    const taken = imageTypeOf(content);
    if (taken === null) return missing('What was attached here as an image is none, and is not sent.');
    if (why !== null) return missing(`The image that was attached here is not sent: ${why}`);
    return [{ type: 'image', name: frames.plain(name), mime: taken, data: toBase64(bytes), ...(callId === undefined ? {} : { callId }) }];
  }
  const text = new TextDecoder().decode(bytes);
  return [
    {
      type: 'text',
      text: attachmentText(kind, attachment, limit === null ? frames.plain(text) : excerpt(frames, text, tokens, limit, ref), frames),
    },
  ];
}

export function isImageType(mime: string): mime is ImageType {
  return (imageTypes as readonly string[]).includes(mime);
}

/** It goes in pieces of a multiple of 3 bytes, because a call takes no more than some 100,000 arguments. */
export function toBase64(bytes: Uint8Array): string {
  let base64 = '';
  for (let at = 0; at < bytes.length; at += 30_000) base64 += btoa(String.fromCharCode(...bytes.subarray(at, at + 30_000)));
  return base64;
}

export interface ImageSize {
  readonly mime: ImageType;
  readonly width: number;
  readonly height: number;
}

export function longSide({ width, height }: Pick<ImageSize, 'width' | 'height'>): number {
  return Math.max(width, height);
}

/** What the bytes themselves say they are, whatever the name of the file says; null for anything that is no png, jpeg, webp or gif. */
export function imageSize(bytes: Uint8Array): ImageSize | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (bytes.length < 30) return null;
  if (text(1, 4) === 'PNG' && bytes[0] === 0x89) return { mime: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
  if (/^GIF8[79]a/.test(text(0, 6))) return { mime: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return webpSize(view, text(12, 16));
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(view) : null;
}

/** Lossy, lossless and extended files keep it in different places (RFC 9649). */
function webpSize(view: DataView, chunk: string): ImageSize | null {
  const of = (width: number, height: number): ImageSize => ({ mime: 'image/webp', width, height });
  if (chunk === 'VP8 ') return of(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
  if (chunk === 'VP8L') {
    const bits = view.getUint32(21, true);
    return of((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1);
  }
  const threeBytes = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
  return chunk === 'VP8X' ? of(threeBytes(24), threeBytes(27)) : null;
}

/** The size stands in the frame header (SOF0–SOF15), behind segments that each say how long they are. */
function jpegSize(view: DataView): ImageSize | null {
  for (let at = 2; at + 9 < view.byteLength && view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { mime: 'image/jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
  }
  return null;
}

/**
 * Tokens of an image: (width × height) / 750 after it has been scaled down to 1,568 px on the long side, and at most about 1,600
 * (Anthropic, "Vision: calculate image costs"). What other providers charge differs; their first answer corrects the sum.
 */
export function imageTokens({ width, height }: { readonly width: number; readonly height: number }): number {
  const scale = Math.min(1, longestSide / Math.max(width, height, 1));
  return Math.min(most, Math.max(1, Math.ceil((width * scale * height * scale) / pixelsPerToken)));
}

/** Pixels. A larger image costs time and says nothing more. */
const longestSide = 1_568;
const pixelsPerToken = 750;
const most = 1_600;
