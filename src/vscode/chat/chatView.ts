import { window, type Uri, type WebviewView } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import type { ViewRequest } from '../../protocol/messages';
import type { ChatState } from './chatController';
import { ChatPage } from './places/chatPage';
import type { ChatPlaces } from './places/chatPlaces';
import { waitingText } from './waitingSession';

export interface ChatViewDeps {
  readonly extensionUri: Uri;
  readonly places: ChatPlaces;
  readonly answer: (request: ViewRequest) => Promise<unknown>;
  readonly log: Logger;
}

/** The Chat view in the side bar. */
export class ChatView implements Disposable {
  private readonly disposables = new DisposableStore();
  private shown: DisposableStore | null = null;
  private page: ChatPage | null = null;
  private wantsFocus = false;

  constructor(private readonly deps: ChatViewDeps) {
    this.disposables.add(
      window.onDidChangeWindowState(({ focused }) => {
        if (focused) for (const { controller } of deps.places.all) if (controller.feed.visible) void controller.catchUp();
      }),
    );
  }

  /** The composer takes the focus as soon as the view can be typed into. */
  focusComposer(): void {
    this.wantsFocus = this.page === null;
    this.page?.focusComposer();
  }

  resolve(view: WebviewView): void {
    const { places, answer, log, extensionUri } = this.deps;
    const { sideBar } = places;
    this.shown?.dispose();
    const shown = new DisposableStore();
    this.shown = shown;
    const page = shown.add(
      new ChatPage(view, {
        extensionUri,
        controller: sideBar.controller,
        title: t('Threadkeeper Chat'),
        answer,
        used: () => places.use(sideBar),
        seen: () => places.seen(),
        log,
      }),
    );
    this.page = page;
    if (this.wantsFocus) page.focusComposer();
    this.wantsFocus = false;
    shown.add(
      view.onDidDispose(() => {
        shown.dispose();
        if (this.shown !== shown) return;
        this.shown = null;
        this.page = null;
      }),
    );
    // Seen on the icon also while the view is hidden: the turn waits for as long as it takes.
    const mark = ({ waiting }: Pick<ChatState, 'waiting'>) => {
      const value = waiting.reduce((sum, { questions }) => sum + questions, 0);
      view.badge = value > 0 ? { value, tooltip: `Threadkeeper: ${waitingText(waiting)}` } : undefined;
    };
    mark(places.state);
    shown.add(places.onDidChangeState(mark));
  }

  dispose(): void {
    this.shown?.dispose();
    this.disposables.dispose();
  }
}
