import { isImageType, toBase64 } from '../context/projection/attachments';
import type { Attachment } from '../session/userMessage';
import type { SideResult } from './sideQuestion';

/** Images that a call of a side question has returned: they are seen once and kept nowhere. */
export class SeenImages {
  private readonly bytes: Uint8Array[] = [];

  constructor(private readonly callId: string) {}

  /** In the place of the store, which names what it keeps. */
  putBlob = async (bytes: Uint8Array): Promise<string> => String(this.bytes.push(bytes) - 1);

  of(attachments: readonly Attachment[]): NonNullable<SideResult['images']> {
    return attachments.flatMap(({ name, hash, mime, tokens }) => {
      const bytes = this.bytes[Number(hash)];
      if (!bytes || !isImageType(mime)) return [];
      return [{ block: { type: 'image', name, mime, data: toBase64(bytes), callId: this.callId }, tokens: tokens ?? 0 }];
    });
  }
}
