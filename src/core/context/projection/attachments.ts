import type { Frames, Sealed } from '../../frames/frames';
import type { ModelBlock, ModelMessage } from '../../models/modelRequest';
import type { SessionStore } from '../../ports';
import { attachmentTitle, imageTypes, type Attachment, type ImageType } from '../../session/userMessage';
import { excerpt } from './excerpt';
import type { AttachmentBlock, PromptMessage } from './projection';

/**
 * Puts the content of attachments where the projection has left room for it. The same bytes always give the same blocks, so that the
 * prompt of the next turn keeps this one as its prefix. Rejects with `StoreError`; content that is gone is said to be gone.
 */
export async function fillAttachments(
  messages: readonly PromptMessage[],
  frames: Frames,
  store: Pick<SessionStore, 'blob'>,
): Promise<ModelMessage[]> {
  return Promise.all(
    messages.map(async ({ blocks, ...message }) => ({
      ...message,
      blocks: (await Promise.all(blocks.map((block) => (block.type === 'attachment' ? filled(block, frames, store) : [block])))).flat(),
    })),
  );
}

/** The text of an attachment as a frame of data. */
function attachmentText({ kind, name, path, lines }: Attachment, text: Sealed, frames: Frames): Sealed {
  return frames.data(kind, text, { name, path, lines: lines === undefined ? undefined : `${lines[0]}-${lines[1]}` });
}

async function filled(
  { attachment, limit, ref, callId }: AttachmentBlock,
  frames: Frames,
  store: Pick<SessionStore, 'blob'>,
): Promise<ModelBlock[]> {
  const { kind, name, mime, hash, tokens = 0 } = attachment;
  const bytes = await store.blob(hash);
  if (!bytes)
    return [
      {
        type: 'text',
        text: frames.notice('missing', 'What was attached here is missing in the history.', {
          attached: kind,
          name: attachmentTitle(attachment),
        }),
      },
    ];
  if (kind === 'image' && isImageType(mime))
    return [{ type: 'image', name: frames.plain(name), mime, data: toBase64(bytes), ...(callId === undefined ? {} : { callId }) }];
  const text = new TextDecoder().decode(bytes);
  return [
    {
      type: 'text',
      text: attachmentText(attachment, limit === null ? frames.plain(text) : excerpt(frames, text, tokens, limit, ref), frames),
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

interface ImageSize {
  readonly mime: ImageType;
  readonly width: number;
  readonly height: number;
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
