import { randomBytes } from 'node:crypto';
import { Uri, window, type Webview, type WebviewView } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t, translationsInUse } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import { HostChannel } from '../../protocol/channel';
import { chatViewHtml } from '../../protocol/chatViewHtml';
import { chatWire } from '../../protocol/messages';
import type { ChatController, ChatState } from './chatController';
import { answerRequest, type WorkbenchActions } from './chatRequests';
import { waitingText } from './waitingSession';
import { transportOf } from './webviewTransport';

export interface ChatViewDeps {
  readonly extensionUri: Uri;
  readonly controller: ChatController;
  readonly workbench: WorkbenchActions;
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
        if (focused && deps.controller.viewVisible) void deps.controller.catchUp();
      }),
    );
  }

  /** The composer takes the focus as soon as the view can be typed into. */
  focusComposer(): void {
    this.wantsFocus = !this.isReady;
    if (this.isReady) this.deps.controller.focusComposer();
  }

  resolve(view: WebviewView): void {
    const { controller, workbench, log, extensionUri } = this.deps;
    this.shown?.dispose();
    const shown = new DisposableStore();
    this.shown = shown;

    const roots = [Uri.joinPath(extensionUri, 'dist', 'webview'), Uri.joinPath(extensionUri, 'media')];
    view.webview.options = { enableScripts: true, localResourceRoots: roots };
    const channel = new HostChannel(chatWire, transportOf(view.webview), {
      ready: () => void this.viewReady(),
      handle: (request) => answerRequest(request, controller, workbench),
      log: (text) => log.warn('chat_view', { detail: text }),
    });
    shown.add(channel);
    const isReady = () => this.isReady;
    shown.add(
      controller.attach({
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
    view.webview.html = this.html(view.webview);
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
    this.deps.controller.focusComposer();
  }

  private html(webview: Webview): string {
    const file = (name: string) => webview.asWebviewUri(Uri.joinPath(this.deps.extensionUri, 'dist', 'webview', name)).toString();
    return chatViewHtml({
      cspSource: webview.cspSource,
      nonce: randomBytes(24).toString('base64url'),
      scriptUri: file('main.js'),
      styleUri: file('main.css'),
      title: t('Threadkeeper Chat'),
      translations: translationsInUse(),
      element: 'tk-app',
    });
  }
}
