import { selectionArgument, type CommandName } from '../../manifest';
import type { WaitingSession } from '../waitingSession';
import type { ChatPlace, ChatPlaces } from './chatPlaces';

/**
 * The chat that a command of the palette, a key or a menu is about: that of the place in use, with these exceptions. What is asked of
 * rows of the Sessions view opens beside it; an answer goes to whoever waits for it; a preview and a review belong to their session. A
 * session that is on show nowhere opens in the side bar, for it must not take an editor from another one.
 */
export function commandPlace(
  name: CommandName,
  [first]: readonly unknown[],
  places: Pick<ChatPlaces, 'current' | 'sideBar' | 'of' | 'state'>,
  /** Sessions of the compaction preview in front, and of the review that is open. */
  shown: { readonly preview: string | undefined; readonly review: string | undefined },
): ChatPlace {
  const isOfRow = first === selectionArgument || (typeof first === 'object' && first !== null && 'kind' in first);
  if (isOfRow) return places.sideBar;
  const meant = sessionOf(name, first, places.state.waiting, shown);
  return meant === undefined ? places.current : (places.of(meant) ?? places.sideBar);
}

function sessionOf(
  name: CommandName,
  first: unknown,
  waiting: readonly WaitingSession[],
  { preview, review }: { readonly preview: string | undefined; readonly review: string | undefined },
): string | undefined {
  const waits = (what: WaitingSession['for']) => waiting.find((one) => one.for === what)?.session.uuid;
  switch (name) {
    case 'answerApproval':
      return waits('permission');
    case 'decideWhenFull':
      return waits('decision');
    case 'applyPreview':
      return preview;
    case 'decideChanges':
    case 'keepChange':
    case 'undoChange':
    case 'keepFile':
    case 'undoFile':
    case 'keepAllChanges':
    case 'undoAllChanges':
      return review;
    default:
      return typeof first === 'string' && name === 'openSession' ? first : undefined;
  }
}
