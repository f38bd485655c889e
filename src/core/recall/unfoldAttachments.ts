import { indented, oneLine } from '../frames/frames';
import type { SessionStore } from '../ports';
import { attachmentNote } from '../session/attachment';
import type { StoredEntry } from '../session/entry';

/**
 * A message as one text, what was attached to it included; images are named only. Attachments are indented, so that nothing in them
 * passes for what the user wrote. Rejects with `StoreError`.
 */
export async function unfoldAttachments(entry: StoredEntry, store: Pick<SessionStore, 'blob'>): Promise<StoredEntry> {
  const { content } = entry;
  if (content.type !== 'message' || !content.attachments) return entry;
  const { attachments, ...message } = content;
  const texts = await Promise.all(
    attachments.map(async (attachment) => {
      const bytes = attachment.kind === 'image' ? undefined : await store.blob(attachment.hash);
      const title = oneLine(attachmentNote([attachment]));
      return bytes ? `${title}\n  ${indented(new TextDecoder().decode(bytes))}` : title;
    }),
  );
  return { ...entry, content: { ...message, text: [content.text, ...texts].join('\n\n').trim() } };
}
