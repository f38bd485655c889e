import type { Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import type { Logger } from '../../core/ports';
import type { ViewSnapshot } from '../../protocol/messages';
import type { StoreAccess } from '../history/storeAccess';

export interface SessionListDeps {
  readonly store: Pick<StoreAccess, 'get'>;
  readonly changed: (sessions: ViewSnapshot['sessions']) => void;
  readonly log: Logger;
}

/** Sessions that the view's list shows. */
const listedSessions = 200;
const rereadMs = 300;

/** The newest sessions, without those in the archive, as they were read last. */
export class SessionList implements Disposable {
  sessions: ViewSnapshot['sessions'] = [];
  private total = 0;
  private rereading: NodeJS.Timeout | undefined;

  constructor(private readonly deps: SessionListDeps) {}

  /** How many sessions there are, the archive included. */
  get count(): number {
    return this.total;
  }

  /** Rejects with `StoreError`. */
  async read(): Promise<ViewSnapshot['sessions']> {
    const store = await this.deps.store.get();
    this.sessions = (await store.listSessions({ archived: false, limit: listedSessions })).map(({ uuid, id, title, updatedAt }) => ({
      uuid,
      id,
      title,
      updatedAt,
    }));
    this.total = await store.countSessions();
    this.deps.changed(this.sessions);
    return this.sessions;
  }

  /** A little later, at once for many changes. */
  readSoon(): void {
    this.rereading ??= setTimeout(() => {
      this.rereading = undefined;
      void this.tryRead();
    }, rereadMs);
  }

  /** Never rejects. */
  async tryRead(): Promise<void> {
    await this.read().catch((error: unknown) => this.deps.log.warn('sessions_not_listed', { detail: errorText(error) }));
  }

  dispose(): void {
    clearTimeout(this.rereading);
  }
}
