import type { Frames, Sealed } from '../../frames/frames';
import type { ModelBlock, ModelMessage } from '../../models/modelRequest';
import type { SessionStore } from '../../ports';
import { attachmentTitle, imageTypes, type Attachment, type ImageType } from '../../session/attachment';
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
export function attachmentText({ kind, name, path, lines }: Attachment, text: Sealed, frames: Frames): Sealed {
  return frames.data(kind, text, { name, path, lines: lines === undefined ? undefined : `${lines[0]}-${lines[1]}` });
}

async function filled(
  { attachment, limit, ref }: AttachmentBlock,
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
  if (kind === 'image' && isImageType(mime)) return [{ type: 'image', name: frames.plain(name), mime, data: toBase64(bytes) }];
  const text = new TextDecoder().decode(bytes);
  return [
    {
      type: 'text',
      text: attachmentText(attachment, limit === null ? frames.plain(text) : excerpt(frames, text, tokens, limit, ref), frames),
    },
  ];
}

function isImageType(mime: string): mime is ImageType {
  return (imageTypes as readonly string[]).includes(mime);
}

/** It goes in pieces of a multiple of 3 bytes, because a call takes no more than some 100,000 arguments. */
function toBase64(bytes: Uint8Array): string {
  let base64 = '';
  for (let at = 0; at < bytes.length; at += 30_000) base64 += btoa(String.fromCharCode(...bytes.subarray(at, at + 30_000)));
  return base64;
}
