import type { Disposable } from '../../../core/base/disposable';
import { errorText, StoreError } from '../../../core/errors';
import { storeTurnError } from '../../../core/chat/turn/turnError';
import { shown, t, wholeNumber } from '../../../core/l10n';
import type { Logger, SessionStore } from '../../../core/ports';
import { sessionNodes, type SessionNode } from './sessionNodes';
import type { OtherWorkspace } from './otherWorkspace';

export interface OtherSessionsDeps {
  readonly list: () => Promise<readonly OtherWorkspace[]>;
  /** Opens a store of another workspace for reading. */
  readonly open: (folder: string) => Promise<SessionStore>;
  readonly log: Logger;
}

/** A store that no window has open is read as a copy of its file: none is kept longer than it is looked at. */
const idleMs = 30_000;
const listed = 200;

interface Opened {
  readonly store: Promise<SessionStore>;
  /** Who is reading it now. */
  readers: number;
  timer: NodeJS.Timeout | undefined;
}

/** Sessions of other workspaces. Their stores are opened for reading when somebody asks, and closed again when nobody has for a while. */
export class OtherSessions implements Disposable {
  private readonly opened = new Map<string, Opened>();

  constructor(private readonly deps: OtherSessionsDeps) {}

  list(): Promise<readonly OtherWorkspace[]> {
    return this.deps.list();
  }

  /** Never rejects: what went wrong is a row. */
  async nodes(workspace: OtherWorkspace): Promise<SessionNode[]> {
    try {
      const [sessions, total] = await this.read(workspace.folder, (store) =>
        Promise.all([store.listSessions({ limit: listed }), store.countSessions()]),
      );
      const older = total - sessions.length;
      const rest: SessionNode[] =
        older > 0
          ? [
              {
                kind: 'note',
                id: `older:${workspace.folder}`,
                text: t(
                  older === 1 ? '{0} older session: open that workspace to see it' : '{0} older sessions: open that workspace to see them',
                  wholeNumber(older),
                ),
                icon: 'ellipsis',
              },
            ]
          : [];
      if (sessions.length > 0) return [...sessionNodes(sessions, workspace), ...rest];
      return [{ kind: 'note', id: `empty:${workspace.folder}`, text: t('No sessions'), icon: 'info' }];
    } catch (error) {
      this.deps.log.warn('other_workspace_not_read', { folder: workspace.folder, detail: errorText(error) });
      const text = StoreError.is(error) ? shown(storeTurnError(error).message) : shown(errorText(error));
      return [{ kind: 'note', id: `failed:${workspace.folder}`, text: t('Could not be read: {0}', text), icon: 'error' }];
    }
  }

  /** Rejects with `StoreError`. */
  async read<T>(folder: string, work: (store: SessionStore) => Promise<T>): Promise<T> {
    let opened = this.opened.get(folder);
    if (!opened) {
      opened = { store: this.deps.open(folder), readers: 0, timer: undefined };
      this.opened.set(folder, opened);
      opened.store.catch(() => this.opened.delete(folder));
    }
    clearTimeout(opened.timer);
    opened.readers++;
    try {
      const store = await opened.store;
      await store.refresh();
      return await work(store);
    } finally {
      opened.readers--;
      clearTimeout(opened.timer);
      opened.timer = setTimeout(() => this.close(folder), idleMs);
    }
  }

  collapsed(workspace: OtherWorkspace): void {
    this.closeUnread(workspace.folder);
  }

  hidden(): void {
    for (const folder of [...this.opened.keys()]) this.closeUnread(folder);
  }

  dispose(): void {
    for (const folder of [...this.opened.keys()]) this.close(folder);
  }

  /** What a search or the model is reading is closed when nobody has for a while. */
  private closeUnread(folder: string): void {
    if (this.opened.get(folder)?.readers === 0) this.close(folder);
  }

  private close(folder: string): void {
    const opened = this.opened.get(folder);
    if (!opened) return;
    this.opened.delete(folder);
    clearTimeout(opened.timer);
    void opened.store
      .then((store) => store.close())
      .catch((error: unknown) => this.deps.log.debug('other_workspace_not_closed', { folder, detail: errorText(error) }));
  }
}
