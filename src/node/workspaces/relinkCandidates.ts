import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { isGone } from './folderIdentity';
import { storeFiles } from '../store/database/storeFiles';
import type { OpenedWorkspace } from './predecessor';
import type { KnownWorkspace } from './workspaceEntry';

/** Why another workspace's history may be that of this one, best first. */
const relinkReasons = [
  'previous',
  'same_folder',
  'same_repository',
  'same_name',
  'shares_folder',
  'beside',
  'clone',
  'gone',
  'other',
] as const;
export type RelinkReason = (typeof relinkReasons)[number];

export interface RelinkCandidate {
  /** `previous` is this workspace itself, before it was linked to another one's history. */
  readonly entry: KnownWorkspace;
  readonly reason: RelinkReason;
  /** Whether all folders of that workspace are gone. */
  readonly gone: boolean;
}

/** Reasons good enough to be offered without having been asked for. */
const likely: ReadonlySet<RelinkReason> = new Set(['same_folder', 'same_repository', 'same_name', 'shares_folder', 'beside']);

export function isLikely({ reason }: RelinkCandidate): boolean {
  return likely.has(reason);
}

/** Every other store that this workspace could take as its own, best first, then the one used last. */
export async function relinkCandidates(
  opened: OpenedWorkspace,
  own: KnownWorkspace | undefined,
  others: readonly KnownWorkspace[],
): Promise<RelinkCandidate[]> {
  const found: RelinkCandidate[] = [];
  const before = own?.previousFolder;
  if (own && before !== undefined)
    found.push({ entry: { ...own, folder: before, sessionCount: own.previousSessionCount ?? null }, reason: 'previous', gone: false });
  for (const entry of others) {
    if (entry.folder === own?.folder || entry.folder === before) continue;
    const gone = entry.workspaceUris.length > 0 && (await Promise.all(entry.workspaceUris.map(isGone))).every((one) => one);
    found.push({ entry, gone, reason: reasonFor(entry, gone, opened) });
  }
  const rank = ({ reason }: RelinkCandidate) => relinkReasons.indexOf(reason);
  // A history that went along to another place is that place's.
  const kept = new Set(found.filter(({ gone }) => !gone).map(({ entry }) => entry.folder));
  const current = found.filter(({ entry, gone }) => (!gone || !kept.has(entry.folder)) && existsSync(storeFiles(entry.folder).main));
  const sorted = current.sort((a, b) => rank(a) - rank(b) || b.entry.lastUsed - a.entry.lastUsed);
  const seen = new Set<string>();
  return sorted.filter(({ entry }) => !seen.has(entry.folder) && seen.add(entry.folder));
}

function reasonFor(entry: KnownWorkspace, gone: boolean, opened: OpenedWorkspace): RelinkReason {
  const sameRemote = opened.remote !== null && entry.remote === opened.remote;
  if (gone && opened.identities !== undefined && entry.identities?.join() === opened.identities.join()) return 'same_folder';
  if (gone && sameRemote) return 'same_repository';
  const [one, more] = entry.workspaceUris;
  const isOne = one !== undefined && more === undefined && opened.uris.length === 1;
  if (gone && isOne && posix.basename(one) === posix.basename(opened.first)) return 'same_name';
  if (entry.workspaceUris.some((uri) => opened.uris.includes(uri))) return 'shares_folder';
  if (gone && isOne && posix.dirname(one) === posix.dirname(opened.first)) return 'beside';
  if (sameRemote) return 'clone';
  return gone ? 'gone' : 'other';
}
