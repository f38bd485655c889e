import * as z from 'zod/mini';

/** What is being written in the row of a message and was not sent: it outlives scrolling away, another session, and hiding the view. */
export const Unsent = z.object({
  /** Other texts for messages, by their entries. */
  edits: z.record(z.string(), z.string()),
  /** Other texts for queued messages, by their ids, each with the session in which it waits. */
  queued: z.record(z.string(), z.object({ session: z.string(), text: z.string() })),
});
export type Unsent = z.infer<typeof Unsent>;

export const unsentEdits = new Map<string, string>();
export const unsentQueued = new Map<string, Unsent['queued'][string]>();

export function unsent(): Unsent {
  return { edits: Object.fromEntries(unsentEdits), queued: Object.fromEntries(unsentQueued) };
}

export function restoreUnsent({ edits, queued }: Unsent): void {
  for (const [entry, text] of Object.entries(edits)) unsentEdits.set(entry, text);
  for (const [id, edit] of Object.entries(queued)) unsentQueued.set(id, edit);
}
