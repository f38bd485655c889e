import { attachmentTokens, type Attachment } from '../../session/userMessage';

interface DraftSize {
  /** Raw, of what will be sent. */
  readonly tokens: number;
  /** Some of it is longer than `oversized` raw tokens: of that, its beginning and end are sent (`excerpt`). */
  readonly isCut: boolean;
}

/** How a message would be sent whose text has so many raw tokens. Images are sent whole. */
export function draftSize(text: number, attachments: readonly Attachment[], oversized: number): DraftSize {
  const sizes = [text, ...attachments.map((attachment) => attachmentTokens(attachment))];
  const isCut = (tokens: number, index: number) => tokens > oversized && attachments[index - 1]?.kind !== 'image';
  return { tokens: sizes.reduce((sum, tokens, index) => sum + (isCut(tokens, index) ? oversized : tokens), 0), isCut: sizes.some(isCut) };
}
