import { Uri, type Disposable as VscodeDisposable, type Webview } from 'vscode';
import { DisposableStore, type Disposable } from '../../../core/base/disposable';
import type { Logger } from '../../../core/ports';
import { HostChannel } from '../../../protocol/channel';
import { chatWire, type ViewRequest } from '../../../protocol/messages';
import type { ChatController } from '../chatController';
import { showPage, transportOf } from '../../webviewPage';

/** What VS Code shows the page in. */
export interface PageFrame {
  readonly webview: Webview;
  readonly visible: boolean;
  readonly onDidChangeVisibility: (listener: () => void) => VscodeDisposable;
}

export interface ChatPageDeps {
  readonly extensionUri: Uri;
  readonly controller: Pick<ChatController, 'feed' | 'ready' | 'catchUp'>;
  readonly title: string;
  /** The page keeps it, for VS Code to hand back after a reload of the window. */
  readonly place?: string;
  readonly answer: (request: ViewRequest) => Promise<unknown>;
  /** The user has put the focus into it. */
  readonly used: () => void;
  /** It can be seen, or not any more. */
  readonly seen: () => void;
  readonly log: Logger;
}

/**
 * The chat of one place in its webview. The document is made anew whenever it is shown after having been hidden; it then says `ready`
 * and gets a complete snapshot.
 */
export class ChatPage implements Disposable {
  private readonly disposables = new DisposableStore();
  /** Whether the document has its snapshot and takes deltas. */
  private isReady = false;
  private wantsFocus = false;

  constructor(
    frame: PageFrame,
    private readonly deps: ChatPageDeps,
  ) {
    const { controller, answer, used, seen, log, extensionUri, title, place } = deps;
    const roots = [Uri.joinPath(extensionUri, 'dist', 'webview'), Uri.joinPath(extensionUri, 'media')];
    frame.webview.options = { enableScripts: true, localResourceRoots: roots };
    const channel = new HostChannel(chatWire, transportOf(frame.webview), {
      ready: () => void this.pageReady(),
      handle: answer,
      used,
      log: (text) => log.warn('chat_view', { detail: text }),
    });
    this.disposables.add(channel);
    const isReady = () => this.isReady;
    this.disposables.add(
      controller.feed.attach({
        get visible() {
          return frame.visible;
        },
        get ready() {
          return isReady();
        },
        snapshot: (snapshot) => channel.sendSnapshot(snapshot),
        delta: (delta) => channel.sendDelta(delta),
      }),
    );
    this.disposables.add(
      frame.onDidChangeVisibility(() => {
        if (frame.visible) void controller.catchUp();
        else this.isReady = false;
        seen();
      }),
    );
    showPage(frame.webview, { extensionUri, bundle: 'main', title, element: 'tk-app', place });
    seen();
  }

  /** The composer takes the focus as soon as the page can be typed into. */
  focusComposer(): void {
    this.wantsFocus = !this.isReady;
    if (this.isReady) this.deps.controller.feed.focusComposer();
  }

  dispose(): void {
    this.isReady = false;
    this.disposables.dispose();
    this.deps.seen();
  }

  private async pageReady(): Promise<void> {
    await this.deps.controller.ready();
    this.isReady = true;
    if (!this.wantsFocus) return;
    this.wantsFocus = false;
    this.deps.controller.feed.focusComposer();
  }
}
