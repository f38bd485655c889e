import { Uri, ViewColumn, window, type WebviewPanel } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import { shown } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import { HostChannel } from '../../protocol/channel';
import { panelWire, type PanelRequest, type PanelState } from '../../protocol/panels';
import { showPage, transportOf } from '../webviewPage';

export interface PanelPageOptions {
  /** VS Code gives it back after a reload of the window; when it is omitted, a new one is made. */
  readonly restored?: WebviewPanel | undefined;
  readonly extensionUri: Uri;
  readonly viewType: string;
  readonly title: string;
  /** Everything that is shown now. */
  readonly state: () => Promise<PanelState>;
  /** Rejects with an `Error` whose message is fit for the user. */
  readonly handle: (request: PanelRequest) => Promise<unknown>;
  readonly closed: () => void;
  readonly log: Logger;
}

/** Changes that come closer together than this are shown as one. */
const gatherMs = 150;

/** A panel in the editor area. While it is hidden its document is gone; shown again, it asks for everything anew. */
export class PanelPage implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly panel: WebviewPanel;
  private readonly channel: HostChannel<PanelState, never, PanelRequest>;
  private timer: NodeJS.Timeout | undefined;
  private building = false;
  private again = false;

  constructor(private readonly options: PanelPageOptions) {
    const { restored, extensionUri, viewType, title, handle, closed, log } = options;
    const root = Uri.joinPath(extensionUri, 'dist', 'webview');
    const media = Uri.joinPath(extensionUri, 'media');
    this.panel = restored ?? window.createWebviewPanel(viewType, title, ViewColumn.Active);
    this.panel.webview.options = { enableScripts: true, localResourceRoots: [root] };
    this.panel.iconPath = Uri.joinPath(media, 'icon.png');
    this.channel = this.disposables.add(
      new HostChannel(panelWire, transportOf(this.panel.webview), {
        ready: () => void this.send(),
        handle,
        log: (text) => log.warn('panel', { panel: viewType, detail: text }),
      }),
    );
    this.disposables.add(
      this.panel.onDidDispose(() => {
        this.dispose();
        closed();
      }),
    );
    showPage(this.panel.webview, { extensionUri, bundle: 'panels', title, element: 'tk-panel' });
  }

  reveal(): void {
    this.panel.reveal();
  }

  /** Shows soon what is now. */
  refresh(): void {
    if (this.panel.visible) this.timer ??= setTimeout(() => void this.send(), gatherMs);
  }

  /** Lets go of the panel. It stays open: when the window is reloaded, VS Code gives it back to the next run. */
  dispose(): void {
    clearTimeout(this.timer);
    this.disposables.dispose();
  }

  private async send(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.building) {
      this.again = true;
      return;
    }
    this.building = true;
    try {
      this.channel.sendSnapshot(await this.options.state());
    } catch (error) {
      this.options.log.warn('panel_without_state', { panel: this.options.viewType, detail: errorText(error) });
      this.channel.sendSnapshot({ panel: 'failed', message: shown(errorText(error)) });
    } finally {
      this.building = false;
    }
    if (!this.again) return;
    this.again = false;
    this.refresh();
  }
}
