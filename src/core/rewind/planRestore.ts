import { isSameVersion, type FileVersion } from './fileChanges';
import type { FileWay } from './fileHistory';
import { mergeText } from './mergeText';

/** A version without a word about where it is kept. */
export type SeenVersion = Omit<FileVersion, 'blob'>;

/** Why a path is left alone whatever is wanted there. */
export type Obstacle =
  /** An editor has changes that are not on disk. */
  | 'unsaved'
  /** A link on its way leads somewhere else. */
  | 'linked'
  /** The workspace has no such folder any more. */
  | 'no_folder'
  /** It is a folder, a socket or the like now. */
  | 'no_file'
  /** A repository of its own has come to be on its way. */
  | 'nested_repository'
  | 'unreadable';

/** What stands at a path now. */
export interface CurrentFile {
  readonly version: SeenVersion | null;
  readonly obstacle?: Obstacle;
  /** Of `linked`: the path of the link. */
  readonly link?: string;
}

/** Where the content of a version is: in a blob of the store, or made by a merge. */
export type KeptContent = { readonly blob: string } | { readonly merged: Uint8Array };

export type WantedFile = SeenVersion & { readonly content: KeptContent };

/** Why a user is asked: what was recorded cannot be had without their change going. */
export type AskReason = 'changed_since' | 'deleted_since' | 'created_since' | 'not_kept';

/** What is to become of one file. */
export interface FilePlan {
  readonly folder: string;
  readonly path: string;
  /** As it was seen; it is looked at again before anything is written. */
  readonly from: SeenVersion | null;
  /** `ask`: nothing happens unless the user decides for `to`. `blocked`: nothing happens at all. */
  readonly action: 'write' | 'delete' | 'ask' | 'blocked';
  /** Null: no file. Of `ask`: what the records say, null as well where that was not kept. */
  readonly to: WantedFile | null;
  readonly isMerged: boolean;
  readonly reason: AskReason | Obstacle | null;
}

/** What planning has to look at. */
export interface RestoreView {
  current(file: { readonly folder: string; readonly path: string }): Promise<CurrentFile>;
  /** Content of what stands there now; null when it has changed since, or cannot be read. */
  read(file: { readonly folder: string; readonly path: string }, version: SeenVersion): Promise<Uint8Array | null>;
  /** Content that was recorded; null when it is gone. */
  kept(version: FileVersion): Promise<Uint8Array | null>;
  hash(bytes: Uint8Array): string;
}

type State = { readonly version: SeenVersion | null; readonly content: KeptContent | 'current' | null };

/**
 * What each file becomes. A file that is as the records say is restored; one that somebody has changed since keeps that change where it
 * can be merged, else the user is asked. Files that need nothing are left out. Reads, and writes nothing.
 */
export async function planRestore(ways: readonly FileWay[], view: RestoreView, signal?: AbortSignal): Promise<FilePlan[]> {
  const plans: (FilePlan | null)[] = [];
  const behindLinks: { readonly at: number; readonly way: FileWay; readonly link: string }[] = [];
  for (const [at, way] of ways.entries()) {
    signal?.throwIfAborted();
    const current = await view.current(way);
    plans.push(await planFile(way, current, view));
    if (current.link !== undefined) behindLinks.push({ at, way, link: current.link });
  }
  // Behind a link that goes with them there is nothing.
  for (const { at, way, link } of behindLinks)
    if (plans.some((plan) => plan?.action === 'delete' && plan.folder === way.folder && plan.path === link))
      plans[at] = await planFile(way, { version: null }, view);
  return plans.filter((plan) => plan !== null);
}

async function planFile(
  { folder, path, steps }: FileWay,
  { version: from, obstacle }: CurrentFile,
  view: RestoreView,
): Promise<FilePlan | null> {
  const file = { folder, path, from, isMerged: false };
  const last = steps.at(-1)!.to;
  if (obstacle) return { ...file, action: 'blocked', to: null, reason: obstacle };
  let state: State = { version: from, content: from && 'current' };
  let isMerged = false;
  for (const step of steps) {
    if (isSameVersion(state.version, step.from)) state = { version: step.to, content: step.to && keptAs(step.to) };
    else if (!isSameVersion(state.version, step.to)) {
      const merged = await mergeStep({ folder, path }, state, step, view);
      if (typeof merged === 'string') return { ...file, action: 'ask', to: last && wanted(last, keptAs(last)), reason: merged };
      isMerged ||= merged.content !== null && merged.content !== 'current' && 'merged' in merged.content;
      state = merged;
    }
  }
  if (isSameVersion(state.version, from)) return null;
  if (state.version === null) return { ...file, action: 'delete', to: null, reason: null };
  const to = wanted(state.version, state.content === 'current' ? await ofNow({ folder, path }, from!, view) : state.content);
  if (!to || (!('merged' in to.content) && !(await view.kept({ ...to, blob: to.content.blob }))))
    return { ...file, action: 'ask', to: null, reason: 'not_kept' };
  return { ...file, action: 'write', to, isMerged, reason: null };
}

/** The same step for a file that is not what the step starts from. */
async function mergeStep(
  file: { readonly folder: string; readonly path: string },
  { version, content }: State,
  { from, to }: FileWay['steps'][number],
  view: RestoreView,
): Promise<State | AskReason> {
  if (version === null) return 'deleted_since';
  if (from === null) return 'created_since';
  if (to === null) return 'changed_since';
  const kinds = [from.kind, version.kind, to.kind];
  const kind = version.kind === from.kind ? to.kind : version.kind;
  if (new Set(kinds).size > 1 && kinds.includes('link')) return 'changed_since';
  if (version.hash === from.hash) return { version: { ...to, kind }, content: keptAs(to) };
  if (to.hash === from.hash || version.hash === to.hash) return { version: { ...version, kind }, content };
  if (kind === 'link') return 'changed_since';
  const [base, theirs] = [await view.kept(from), await view.kept(to)];
  if (!base || !theirs) return 'not_kept';
  const ours = await contentOf(file, version, content, view);
  const merged = ours && mergeText(base, ours, theirs);
  if (!merged) return 'changed_since';
  return { version: { hash: view.hash(merged), bytes: merged.length, kind }, content: { merged } };
}

async function contentOf(
  file: { readonly folder: string; readonly path: string },
  version: SeenVersion,
  content: State['content'],
  view: RestoreView,
): Promise<Uint8Array | null> {
  if (content === null) return null;
  if (content === 'current') return view.read(file, version);
  return 'merged' in content ? content.merged : view.kept({ ...version, blob: content.blob });
}

/** A file of which only the kind changes. */
async function ofNow(
  file: { readonly folder: string; readonly path: string },
  from: SeenVersion,
  view: RestoreView,
): Promise<KeptContent | null> {
  const merged = await view.read(file, from);
  return merged && { merged };
}

function keptAs({ blob }: FileVersion): KeptContent | null {
  return blob === null ? null : { blob };
}

function wanted({ hash, bytes, kind }: SeenVersion, content: KeptContent | null): WantedFile | null {
  return content && { hash, bytes, kind, content };
}
