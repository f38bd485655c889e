import * as z from 'zod/mini';

/** What every provider with images takes. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type ImageType = (typeof imageTypes)[number];

/** What goes with a message. The content is a blob of the store: bytes of an image, UTF-8 text of everything else. */
export const Attachment = z.object({
  kind: z.enum(['image', 'file', 'selection']),
  name: z.string(),
  /** sha256 of the content-addressed blob. */
  hash: z.string(),
  mime: z.string(),
});
export type Attachment = z.infer<typeof Attachment>;
