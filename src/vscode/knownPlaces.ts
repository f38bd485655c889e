import { posix } from 'node:path';
import type { KnownWorkspace } from '../node/store/workspaceEntry';
import type { RelinkCandidate, RelinkReason } from '../node/store/relinkCandidates';
import type { OtherWorkspace } from './sessionNodes';
import { agoText } from './sessionText';

/** Name and place of a workspace as people know it: from `file:///home/me/tides`, `tides` and `/home/me/tides`. */
export function placeOf({ workspaceUris }: Pick<KnownWorkspace, 'workspaceUris'>): { readonly name: string; readonly place: string } {
  const paths = workspaceUris.map(pathText);
  if (paths.length === 0) return { name: 'No folder', place: 'windows without a folder' };
  const names = paths.map((path) => posix.basename(path.replaceAll('\\', '/')) || path);
  return { name: names.join(' + '), place: paths.join(', ') };
}

export function otherWorkspace({ entry, reason, gone }: RelinkCandidate): OtherWorkspace {
  const [only, more] = entry.workspaceUris;
  const { name, place } = placeOf(entry);
  return {
    name: reason === 'previous' ? `${name} (before it was linked)` : name,
    place,
    folder: entry.folder,
    sessionCount: entry.sessionCount,
    lastUsed: entry.lastUsed,
    // This very workspace would open itself.
    uri: only !== undefined && more === undefined && reason !== 'previous' ? only : null,
    gone,
  };
}

const reasons: Readonly<Record<RelinkReason, string>> = {
  previous: 'where this workspace had its sessions before it was linked',
  same_folder: 'this very folder, under its former name',
  same_repository: 'the same repository, at a place that is gone',
  same_name: 'a folder with this name, at a place that is gone',
  shares_folder: 'shares a folder with this workspace',
  beside: 'stood beside this folder and is gone',
  clone: 'another clone of this repository',
  gone: 'its folder is gone',
  other: '',
};

export interface RelinkPick {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly candidate: RelinkCandidate;
}

export function relinkPick(candidate: RelinkCandidate, now: number): RelinkPick {
  const { entry, reason } = candidate;
  const { name, place } = placeOf(entry);
  const count = entry.sessionCount === null ? '' : entry.sessionCount === 1 ? '1 session' : `${entry.sessionCount.toLocaleString('en')} sessions`;
  return {
    label: reason === 'previous' ? 'Take the link back' : name,
    description: reasons[reason],
    detail: [count, `last used ${agoText(entry.lastUsed, now)}`, place].filter((part) => part !== '').join(' · '),
    candidate,
  };
}

/** A local path as such; anything else with its authority, decoded. */
function pathText(uri: string): string {
  if (!URL.canParse(uri)) return uri;
  const { protocol, host, pathname } = new URL(uri);
  const path = decode(pathname);
  if (protocol !== 'file:') return `${protocol}//${host}${path}`;
  if (host !== '') return `//${host}${path}`;
  return /^\/[a-z]:/i.test(path) ? path.slice(1) : path;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
