import type { ModelBlock, ModelMessage } from '../models/modelRequest';
import type { SessionStore } from '../ports';
import { attachmentTitle, imageTypes, type Attachment, type ImageType } from '../session/attachment';
import { excerpt } from './excerpt';
import type { AttachmentBlock, PromptMessage } from './projection';

/**
 * Puts the content of attachments where the projection has left room for it. The same bytes always give the same blocks, so that the
 * prompt of the next turn keeps this one as its prefix. Rejects with `StoreError`; content that is gone is said to be gone.
 */
export async function fillAttachments(messages: readonly PromptMessage[], store: Pick<SessionStore, 'blob'>): Promise<ModelMessage[]> {
  return Promise.all(
    messages.map(async ({ blocks, ...message }) => ({ ...message, blocks: (await Promise.all(blocks.map((block) => (block.type === 'attachment' ? filled(block, store) : [block])))).flat() })),
  );
}

/** The text of an attachment as a block of data: nothing in it can end the block, because its tag has the hash of all of it. */
export function attachmentText(attachment: Attachment, text: string): string {
  const { kind, name, path, lines, hash } = attachment;
  const tag = `attachment-${hash.slice(0, 8)}`;
  const about = [`kind=${quoted(kind)}`, `name=${quoted(name)}`, ...(path === undefined ? [] : [`path=${quoted(path)}`]), ...(lines === undefined ? [] : [`lines="${lines[0]}-${lines[1]}"`])];
  return `<${tag} ${about.join(' ')}>\n${text.trim() === '' ? '(it is empty)' : text}\n</${tag}>`;
}

async function filled({ attachment, limit, ref }: AttachmentBlock, store: Pick<SessionStore, 'blob'>): Promise<ModelBlock[]> {
  const { kind, name, mime, hash, tokens = 0 } = attachment;
  const bytes = await store.blob(hash);
  if (!bytes) return [{ type: 'text', text: `[The attached ${kind} ${quoted(attachmentTitle(attachment))} is missing in the history.]` }];
  if (kind === 'image' && isImageType(mime)) return [{ type: 'image', name, mime, data: toBase64(bytes) }];
  const text = new TextDecoder().decode(bytes);
  return [{ type: 'text', text: attachmentText(attachment, limit === null ? text : excerpt(text, tokens, limit, ref)) }];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function isImageType(mime: string): mime is ImageType {
  return (imageTypes as readonly string[]).includes(mime);
}

/** In pieces of a multiple of 3 bytes, because a call takes no more than some 100,000 arguments. */
function toBase64(bytes: Uint8Array): string {
  let base64 = '';
  for (let at = 0; at < bytes.length; at += 30_000) base64 += btoa(String.fromCharCode(...bytes.subarray(at, at + 30_000)));
  return base64;
}
