import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { ProcessIdentity } from '../store/sharing/processIdentity';

const Version = z.nullable(z.object({ hash: z.string(), kind: z.enum(['file', 'executable', 'link']) }));

const JournalFile = z.object({
  /** The workspace's folder, as it really is. */
  root: z.string(),
  path: z.string(),
  target: z.string(),
  /** Folder in which its new and its old content wait, as `n`. */
  stage: z.string(),
  n: z.number(),
  from: Version,
  to: Version,
  /** Permissions that it had. */
  mode: z.nullable(z.number()),
});
export type JournalFile = z.infer<typeof JournalFile>;

export const Journal = z.object({
  id: z.string(),
  /** Who restores: while it lives, nobody else ends its restore. */
  owner: ProcessIdentity,
  /** `done`: what it needed could not be removed. */
  phase: z.enum(['staging', 'applying', 'rolling_back', 'done']),
  files: z.array(JournalFile),
  stages: z.array(z.string()),
  /** The entry that tells of it in the history. */
  mark: z.optional(z.string()),
});
export type Journal = z.infer<typeof Journal>;

export function journalFile(storage: string, id: string): string {
  const folder = join(storage, 'restores');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, `${id}.json`);
}
