import * as z from 'zod/mini';
import { Attachment } from './userMessage';

/** The request that is being worked on, where a compaction had to cut its turn: it goes on standing in the prompt. */
export const CarriedRequest = z.object({
  /** `#12`, the message that it is. */
  ref: z.string(),
  /** As it is shown: all of it, or its head and tail. */
  text: z.string(),
  /** What was attached to it and goes on standing in the prompt. */
  attachments: z.optional(z.array(Attachment)),
  /** What was attached to it and has no room beside that. */
  leftOut: z.optional(z.array(Attachment)),
});
export type CarriedRequest = z.infer<typeof CarriedRequest>;

const Carrying = z.object({ request: CarriedRequest });

/** Finds the request in what a compaction keeps beside its text; undefined where it carries none. */
export function requestIn(summary: unknown): CarriedRequest | undefined {
  return Carrying.safeParse(summary).data?.request;
}
