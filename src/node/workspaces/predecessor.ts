import { stat } from 'node:fs/promises';
import { isGone, isGoneFromItsFolder, type KnownWorkspace } from './workspaceEntry';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { storeFiles } from '../store/database/storeFiles';

/** What is known of a workspace that is opened for the first time. */
export interface OpenedWorkspace {
  /** Sorted. */
  readonly uris: string[];
  /** The first of its folders; adding another one leaves it in its place. */
  readonly first: string;
  readonly remote: string | null;
  readonly identities: string[] | undefined;
}

export interface Predecessor {
  readonly entry: KnownWorkspace;
  readonly how: 'moved' | 'grown';
}

/**
 * The workspace that this one was until now, where there is no doubt: the same folders under another name, the only clone of the
 * repository that is no longer at its place, or one to which a folder was added. Whatever is only likely is for the user to
 * decide (`relinkCandidates`).
 */
export async function findPredecessor(opened: OpenedWorkspace, others: readonly KnownWorkspace[]): Promise<Predecessor | undefined> {
  const free: KnownWorkspace[] = [];
  for (const entry of others) if (await isThere(entry.folder)) free.push(entry);
  const moved = (await firstWhere(free, (entry) => isRenamed(entry, opened, others))) ?? (await onlyClone(free, opened, others));
  if (moved) return { entry: moved, how: 'moved' };
  const grown = free.filter(
    ({ workspaceUris: uris }) =>
      uris.length < opened.uris.length && uris.includes(opened.first) && uris.every((uri) => opened.uris.includes(uri)),
  );
  const [entry] = grown.sort((a, b) => b.workspaceUris.length - a.workspaceUris.length || b.lastUsed - a.lastUsed);
  return entry && { entry, how: 'grown' };
}

/** Whether a workspace that is there has taken this one's sessions over. */
export async function isTakenOver({ folder, workspaceUris }: KnownWorkspace, others: readonly KnownWorkspace[]): Promise<boolean> {
  const heir = (other: KnownWorkspace) => other.folder === folder && other.movedFrom?.join('\n') === workspaceUris.join('\n');
  return (await firstWhere(others, async (other) => heir(other) && !(await allOf(other.workspaceUris, isGone)))) !== undefined;
}

async function isRenamed(
  entry: KnownWorkspace,
  { uris, identities }: OpenedWorkspace,
  others: readonly KnownWorkspace[],
): Promise<boolean> {
  if (identities === undefined || entry.identities?.join() !== identities.join()) return false;
  // A folder that can be reached by two paths is still there by the other one.
  const left = entry.workspaceUris.filter((uri) => !uris.includes(uri));
  return left.length > 0 && (await allOf(left, isGone)) && !(await isShared(entry, others));
}

async function onlyClone(
  free: readonly KnownWorkspace[],
  { remote, uris }: OpenedWorkspace,
  others: readonly KnownWorkspace[],
): Promise<KnownWorkspace | undefined> {
  if (remote === null) return undefined;
  const gone: KnownWorkspace[] = [];
  for (const entry of free) {
    const sameSize = entry.workspaceUris.length === uris.length;
    if (entry.remote === remote && sameSize && (await allOf(entry.workspaceUris, isGoneFromItsFolder)) && !(await isShared(entry, others)))
      gone.push(entry);
  }
  return new Set(gone.map(({ folder }) => folder)).size === 1 ? gone[0] : undefined;
}

/** Whether another workspace, one that is there, keeps its sessions in the same folder. */
async function isShared(entry: KnownWorkspace, others: readonly KnownWorkspace[]): Promise<boolean> {
  const sharing = others.filter((other) => other !== entry && other.folder === entry.folder);
  return (await firstWhere(sharing, async (other) => !(await allOf(other.workspaceUris, isGone)))) !== undefined;
}

async function firstWhere<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<T | undefined> {
  for (const item of items) if (await test(item)) return item;
  return undefined;
}

async function allOf<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  return items.length > 0 && (await firstWhere(items, async (item) => !(await test(item)))) === undefined;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

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
