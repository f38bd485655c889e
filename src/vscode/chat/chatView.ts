import { Uri, window, type WebviewView } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import { HostChannel } from '../../protocol/channel';
import { chatWire, type ViewRequest } from '../../protocol/messages';
import type { ChatController, ChatState } from './chatController';
import { waitingText } from './waitingSession';
import { showPage, transportOf } from '../webviewPage';

export interface ChatViewDeps {
  readonly extensionUri: Uri;
  readonly controller: Pick<ChatController, 'feed' | 'ready' | 'catchUp' | 'state' | 'onDidChangeState'>;
  readonly answer: (request: ViewRequest) => Promise<unknown>;
  readonly log: Logger;
}

/**
 * The Chat view. Its document is made anew whenever it is shown after having been hidden; it then says `ready` and gets a
 * complete snapshot.
 */
export class ChatView implements Disposable {
  private readonly disposables = new DisposableStore();
  private shown: DisposableStore | null = null;
  /** Whether the document has its snapshot and takes deltas. */
  private isReady = false;
  private wantsFocus = false;

  constructor(private readonly deps: ChatViewDeps) {
    this.disposables.add(
      window.onDidChangeWindowState(({ focused }) => {
        if (focused && deps.controller.feed.visible) void deps.controller.catchUp();
      }),
    );
  }

  /** The composer takes the focus as soon as the view can be typed into. */
  focusComposer(): void {
    this.wantsFocus = !this.isReady;
    if (this.isReady) this.deps.controller.feed.focusComposer();
  }

  resolve(view: WebviewView): void {
    const { controller, answer, log, extensionUri } = this.deps;
    this.shown?.dispose();
    const shown = new DisposableStore();
    this.shown = shown;

    const roots = [Uri.joinPath(extensionUri, 'dist', 'webview'), Uri.joinPath(extensionUri, 'media')];
    view.webview.options = { enableScripts: true, localResourceRoots: roots };
    const channel = new HostChannel(chatWire, transportOf(view.webview), {
      ready: () => void this.viewReady(),
      handle: answer,
      log: (text) => log.warn('chat_view', { detail: text }),
    });
    shown.add(channel);
    const isReady = () => this.isReady;
    shown.add(
      controller.feed.attach({
        get visible() {
          return view.visible;
        },
        get ready() {
          return isReady();
        },
        snapshot: (snapshot) => channel.sendSnapshot(snapshot),
        delta: (delta) => channel.sendDelta(delta),
      }),
    );
    shown.add(
      view.onDidChangeVisibility(() => {
        if (view.visible) void controller.catchUp();
        else this.isReady = false;
      }),
    );
    shown.add(
      view.onDidDispose(() => {
        shown.dispose();
        if (this.shown !== shown) return;
        this.shown = null;
        this.isReady = false;
      }),
    );
    // Seen on the icon also while the view is hidden: the turn waits for as long as it takes.
    const mark = ({ waiting }: Pick<ChatState, 'waiting'>) => {
      const value = waiting.reduce((sum, { questions }) => sum + questions, 0);
      view.badge = value > 0 ? { value, tooltip: `Threadkeeper: ${waitingText(waiting)}` } : undefined;
    };
    mark(controller.state);
    shown.add(controller.onDidChangeState(mark));
    showPage(view.webview, { extensionUri, bundle: 'main', title: t('Threadkeeper Chat'), element: 'tk-app' });
  }

  dispose(): void {
    this.shown?.dispose();
    this.disposables.dispose();
  }

  private async viewReady(): Promise<void> {
    await this.deps.controller.ready();
    this.isReady = true;
    if (!this.wantsFocus) return;
    this.wantsFocus = false;
    this.deps.controller.feed.focusComposer();
  }
}
