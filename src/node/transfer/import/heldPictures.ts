import { imageSize, imageTokens } from '../../../core/context/projection/attachments';
import type { EntryContent } from '../../../core/session/entry';
import type { Attachment } from '../../../core/session/userMessage';
import { wordOf } from '../../../core/transfer/formats/foreignJson';
import type { Picture } from '../../../core/transfer/sourceRecord';
import type { ImportStore } from './importStore';

/**
 * A message with its pictures as attachments; any other content as it is. What bytes say of themselves counts, not what the source calls
 * them: other programs keep documents and sounds in the same place, which no provider takes as an image. They are named in the text.
 * Rejects with `StoreError`.
 */
export async function withPictures(
  message: EntryContent,
  pictures: readonly Picture[] = [],
  store: Pick<ImportStore, 'putBlob'>,
): Promise<EntryContent> {
  if (message.type !== 'message' || pictures.length === 0) return message;
  const attachments: Attachment[] = [];
  const notes: string[] = [];
  for (const [i, { mime, data }] of pictures.entries()) {
    const bytes = new Uint8Array(Buffer.from(data, 'base64'));
    const size = imageSize(bytes);
    if (size) {
      const hash = await store.putBlob(bytes, size.mime);
      attachments.push({ kind: 'image', name: `image ${i + 1}`, hash, mime: size.mime, tokens: imageTokens(size) });
    } else notes.push(`[${wordOf(mime)}, ${bytes.length.toLocaleString('en')} bytes: no image, and not imported]`);
  }
  return {
    ...message,
    text: [message.text, ...notes].filter((part) => part !== '').join('\n'),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}
