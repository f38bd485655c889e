import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { Logger, SessionStore } from '../../core/ports';
import type { ChatPlaces } from '../chat/places/chatPlaces';

export interface ElsewhereDeps {
  readonly places: Pick<ChatPlaces, 'all' | 'onDidChangeState'>;
  /** Null: it is not open. */
  readonly store: () => SessionStore | null;
  /** What people call a device; undefined: it has not said. */
  readonly nameOf: (device: string) => string | undefined;
  readonly isDismissed: (key: string) => boolean;
  readonly log: Logger;
}

/** What happens in one go is looked at once. */
const pauseMs = 300;

/** Tells each chat on show where another device went on in its session. */
export class ElsewhereWatch implements Disposable {
  private readonly owned = new DisposableStore();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly deps: ElsewhereDeps) {
    this.owned.add(deps.places.onDidChangeState(({ busy }) => !busy && this.look()));
  }

  look(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.lookNow().catch((error: unknown) => this.deps.log.debug('elsewhere_unknown', { detail: errorText(error) }));
    }, pauseMs);
  }

  dispose(): void {
    if (this.timer) clearTimeout(this.timer);
    this.owned.dispose();
  }

  private async lookNow(): Promise<void> {
    const { places, store, nameOf, isDismissed } = this.deps;
    for (const { controller } of places.all) {
      const session = controller.active.session?.uuid;
      const found = session === undefined ? [] : ((await store()?.syncElsewhere(session)) ?? []);
      const [newest] = found.filter(({ leaf }) => !isDismissed(dismissKey(leaf)));
      if (controller.active.session?.uuid !== session) continue;
      controller.feed.elsewhere(
        newest
          ? {
              device: nameOf(newest.device) ?? t('another device'),
              messages: newest.messages,
              entry: newest.leaf,
              dismissAs: dismissKey(newest.leaf),
            }
          : null,
      );
    }
  }
}

function dismissKey(leaf: string): string {
  return `elsewhere: ${leaf}`;
}
