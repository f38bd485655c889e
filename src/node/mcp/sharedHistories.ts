import type { MemoryNotes, SessionStore } from '../../core/ports';
import { workspaceNotes } from '../memory/workspaceNotes';
import { isShared } from './agentSharing';

/** Where a history is, and what an agent calls it. */
export interface HistoryPlace {
  readonly name: string;
  readonly folder: string;
}

/** What is read of a store here; nothing that writes can be called. */
export type ReadableStore = Pick<
  SessionStore,
  | 'search'
  | 'session'
  | 'listSessions'
  | 'entries'
  | 'entriesBySeq'
  | 'following'
  | 'untrashed'
  | 'editsNaming'
  | 'exchangeAround'
  | 'blob'
  | 'page'
  | 'refresh'
  | 'close'
>;

export interface SharedHistory extends HistoryPlace {
  readonly store: ReadableStore;
  readonly notes: MemoryNotes;
}

export interface Found {
  readonly histories: readonly SharedHistory[];
  /** Names of those that cannot be read. */
  readonly unread: readonly string[];
}

/** In words for the agent, which tells its user. */
class NotShared extends Error {
  override readonly name = 'NotShared';
}

/** The histories that a server may read. Each is opened when it is first asked for; whether it may be read is looked up at every call. */
export class SharedHistories {
  private readonly opened = new Map<string, Promise<ReadableStore>>();

  constructor(
    /** All that the command line names, shared or not. */
    private readonly places: () => Promise<readonly HistoryPlace[]>,
    private readonly open: (folder: string) => Promise<ReadableStore>,
  ) {}

  /**
   * Resolves with those that are shared now, or the one of that name. Rejects with `NotShared`, or with what stands in the way when none
   * of them can be read.
   */
  async all(name?: string): Promise<Found> {
    const places = await this.places();
    const shared: HistoryPlace[] = [];
    for (const place of places) {
      if (await isShared(place.folder)) shared.push(place);
      else await this.drop(place.folder);
    }
    if (shared.length === 0) throw new NotShared(noneShared);
    const wanted = name === undefined ? shared : shared.filter((one) => one.name === name);
    if (wanted.length === 0)
      throw new NotShared(
        `No workspace that is shared is called ${JSON.stringify(name)}. There are: ${shared.map((one) => one.name).join(', ')}.`,
      );
    const histories: SharedHistory[] = [];
    const unread: string[] = [];
    let reason: unknown;
    for (const [i, one] of (await Promise.allSettled(wanted.map((place) => this.history(place)))).entries()) {
      if (one.status === 'fulfilled') histories.push(one.value);
      else {
        unread.push(wanted[i]!.name);
        reason = one.reason;
      }
    }
    if (histories.length === 0) throw reason;
    return { histories, unread };
  }

  async close(): Promise<void> {
    await Promise.all([...this.opened.keys()].map((folder) => this.drop(folder)));
  }

  private async history(place: HistoryPlace): Promise<SharedHistory> {
    const store = await this.storeOf(place.folder);
    await store.refresh();
    return { ...place, store, notes: workspaceNotes(place.folder) };
  }

  private storeOf(folder: string): Promise<ReadableStore> {
    const known = this.opened.get(folder);
    if (known) return known;
    const opening = this.open(folder);
    this.opened.set(folder, opening);
    // What could not be opened is tried again by the next call.
    opening.catch(() => this.opened.delete(folder));
    return opening;
  }

  private async drop(folder: string): Promise<void> {
    const opened = this.opened.get(folder);
    this.opened.delete(folder);
    await opened?.then((store) => store.close()).catch(() => undefined);
  }
}

const noneShared =
  'No history is shared with agents. The user can switch that on in VS Code, by the command "Threadkeeper: Share This History with Agents…", ' +
  'or on the command line: threadkeeper mcp --store DIR --share on';
