import { posix } from 'node:path';
import { t, wholeNumber } from '../../core/l10n';
import type { KnownWorkspace } from '../../node/workspaces/workspaceEntry';
import type { RelinkCandidate, RelinkReason } from '../../node/workspaces/predecessor';
import type { OtherWorkspace } from '../sessions/tree/otherWorkspace';
import { ago } from '../../protocol/figures';

/** Name and place of a workspace as people know it: from `file:///home/me/tides`, `tides` and `/home/me/tides`. */
export function placeOf({ workspaceUris }: Pick<KnownWorkspace, 'workspaceUris'>): { readonly name: string; readonly place: string } {
  const paths = workspaceUris.map(pathText);
  if (paths.length === 0) return { name: t('No folder'), place: t('windows without a folder') };
  const names = paths.map((path) => posix.basename(path.replaceAll('\\', '/')) || path);
  return { name: names.join(' + '), place: paths.join(', ') };
}

export function otherWorkspace({ entry, reason, gone }: RelinkCandidate): OtherWorkspace {
  const [only, more] = entry.workspaceUris;
  const { name, place } = placeOf(entry);
  return {
    name: reason === 'previous' ? t('{0} (before it was linked)', name) : name,
    place,
    folder: entry.folder,
    sessionCount: entry.sessionCount,
    lastUsed: entry.lastUsed,
    // This very workspace would open itself.
    uri: only !== undefined && more === undefined && reason !== 'previous' ? only : null,
    gone,
  };
}

const reasons: Readonly<Record<RelinkReason, () => string>> = {
  previous: () => t('where this workspace had its sessions before it was linked'),
  same_folder: () => t('this very folder, under its former name'),
  same_repository: () => t('the same repository, at a place that is gone'),
  same_name: () => t('a folder with this name, at a place that is gone'),
  shares_folder: () => t('shares a folder with this workspace'),
  beside: () => t('stood beside this folder and is gone'),
  clone: () => t('another clone of this repository'),
  gone: () => t('its folder is gone'),
  other: () => '',
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
  const count =
    entry.sessionCount === null ? '' : t(entry.sessionCount === 1 ? '{0} session' : '{0} sessions', wholeNumber(entry.sessionCount));
  return {
    label: reason === 'previous' ? t('Take the link back') : name,
    description: reasons[reason](),
    detail: [count, t('last used {0}', ago(entry.lastUsed, now)), place].filter((part) => part !== '').join(' · '),
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
