import type { OtherHistories } from '../searchOthers';
import type { ListedElsewhere } from './otherWorkspace';
import { listStep, type SessionLists } from './treeLists';

/** Sessions of other workspaces beside those of this one, while the user wants to see all of them. Off, nothing of theirs is opened. */
export class AllWorkspaces {
  private round = 0;
  private parts: readonly ListedElsewhere[] | null = null;
  isReading = false;

  constructor(
    private readonly histories: OtherHistories,
    private readonly changed: () => void,
  ) {}

  /** One for each workspace that has answered so far; null: off. */
  get listed(): readonly ListedElsewhere[] | null {
    return this.parts;
  }

  switchOff(): void {
    this.round++;
    this.parts = null;
    this.isReading = false;
  }

  /** Once more, with the words and the order of the list; what was read before stays on show until then. Never rejects. */
  async read(lists: Pick<SessionLists, 'query'>): Promise<void> {
    const mine = ++this.round;
    const isWanted = () => mine === this.round;
    const before = this.parts ?? [];
    const parts: ListedElsewhere[] = [];
    this.parts = before;
    this.isReading = true;
    const query = { ...lists.query, archived: false, limit: listStep + 1 };
    for await (const { workspace, result, isLeftOut } of this.histories.read((store) => store.listSessions(query), isWanted)) {
      if (!isWanted()) return;
      parts.push({
        workspace,
        state: result ? 'read' : isLeftOut ? 'left_out' : 'unread',
        sessions: result?.slice(0, listStep) ?? [],
        hasMore: (result?.length ?? 0) > listStep,
      });
      const folders = new Set(parts.map((part) => part.workspace.folder));
      this.parts = [...parts, ...before.filter((part) => !folders.has(part.workspace.folder))];
      this.changed();
    }
    if (!isWanted()) return;
    this.parts = parts;
    this.isReading = false;
    this.changed();
  }
}
