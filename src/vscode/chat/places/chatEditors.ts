import { randomUUID } from 'node:crypto';
import { Uri, ViewColumn, window, type WebviewPanel } from 'vscode';
import * as z from 'zod/mini';
import { DisposableStore, type Disposable } from '../../../core/base/disposable';
import { t } from '../../../core/l10n';
import type { Logger } from '../../../core/ports';
import type { ViewRequest } from '../../../protocol/messages';
import { chatEditorType } from '../../manifest';
import { sessionTitle } from '../../sessions/sessionText';
import type { WindowState } from '../windowState';
import { ChatPage } from './chatPage';
import type { ChatPlace, ChatPlaces } from './chatPlaces';

export interface ChatEditorsDeps {
  readonly extensionUri: Uri;
  readonly places: ChatPlaces;
  readonly memory: Pick<WindowState, 'chatEditor' | 'forgetChatEditor'>;
  /** What the page of a place asks is answered with this. */
  readonly answerFor: (place: ChatPlace) => (request: ViewRequest) => Promise<unknown>;
  readonly log: Logger;
}

/** As much as is needed of what the page has remembered. */
const Remembered = z.object({ place: z.string(), session: z.nullable(z.string()) });

/** Chats in editors: beside the code, in another window of VS Code, several at once, each with a session of its own. */
export class ChatEditors implements Disposable {
  private readonly disposables = new DisposableStore();

  constructor(private readonly deps: ChatEditorsDeps) {}

  /**
   * Brings a session to the front in an editor: in the one that has it, else in a new one, which takes it from the side bar. Null: a
   * session that begins with its first message. Rejects with `StoreError`.
   */
  async open(session: string | null, column = ViewColumn.Active): Promise<void> {
    const { places, memory } = this.deps;
    const shown = session === null ? undefined : places.of(session);
    if (shown && shown !== places.sideBar) return shown.reveal({ preserveFocus: false });
    const id = randomUUID();
    await memory.chatEditor(id).setLastSession(session);
    await shown?.leave();
    const known = places.list.sessions.find(({ uuid }) => uuid === session);
    const panel = window.createWebviewPanel(chatEditorType, known ? sessionTitle(known) : t('New session'), column);
    this.show(panel, id).focusComposer();
  }

  /** A session was dropped into the editor area: its editor takes the place of the one that VS Code has made for what was dropped. */
  async dropped(uri: Uri, panel: WebviewPanel): Promise<void> {
    try {
      await this.open(uri.query, panel.viewColumn);
    } finally {
      panel.dispose();
    }
  }

  /** After a reload of the window. What was opened in the side bar in the meantime goes back to its editor. */
  async restore(panel: WebviewPanel, state: unknown): Promise<void> {
    const { places, memory } = this.deps;
    const { data } = Remembered.safeParse(state);
    if (!data) return panel.dispose();
    const { lastSession, setLastSession } = memory.chatEditor(data.place);
    const session = lastSession() ?? data.session;
    await setLastSession(session);
    if (session !== null) await places.of(session)?.leave();
    this.show(panel, data.place);
  }

  /** Lets go of the editors. They stay open: when the window is reloaded, VS Code gives them back to the next run. */
  dispose(): void {
    this.disposables.dispose();
  }

  private show(panel: WebviewPanel, id: string): ChatPlace {
    const { places, memory, extensionUri, answerFor, log } = this.deps;
    const shown = new DisposableStore();
    const editor: ChatPlace = {
      controller: places.controllerFor(() => editor, memory.chatEditor(id)),
      reveal: async ({ preserveFocus }) => panel.reveal(undefined, preserveFocus),
      leave: async () => panel.dispose(),
      focusComposer: () => page.focusComposer(),
    };
    const { controller } = editor;
    const page = shown.add(
      new ChatPage(
        {
          webview: panel.webview,
          get visible() {
            return panel.visible;
          },
          onDidChangeVisibility: (listener) => {
            let wasVisible = panel.visible;
            return panel.onDidChangeViewState(() => {
              if (panel.active) places.use(editor);
              if (panel.visible === wasVisible) return;
              wasVisible = panel.visible;
              listener();
            });
          },
        },
        {
          extensionUri,
          controller,
          title: t('Threadkeeper Chat'),
          place: id,
          answer: answerFor(editor),
          used: () => places.use(editor),
          seen: () => places.seen(),
          log,
        },
      ),
    );
    let drawn = '';
    const mark = () => {
      const { active, state } = controller;
      const questions = active.chat?.waiting?.questions ?? 0;
      const icon = questions > 0 ? 'tab-waiting.svg' : state.busy ? 'tab-running.svg' : 'icon.png';
      if (icon !== drawn) panel.iconPath = Uri.joinPath(extensionUri, 'media', (drawn = icon));
      const name = active.session ? sessionTitle(active.session) : t('New session');
      // In the title too: an icon alone is not read out.
      const title = questions > 0 ? `(${questions}) ${name}` : name;
      if (active.isOpened && panel.title !== title) panel.title = title;
    };
    mark();
    shown.add(controller.onDidChangeState(mark));
    const added = places.add(editor);
    this.disposables.add(shown);
    panel.onDidDispose(() => {
      const { session, draft } = controller.active;
      if (!session) places.sideBar.controller.active.adopt(draft);
      this.disposables.delete(shown);
      added.dispose();
      void memory.forgetChatEditor(id);
    });
    if (panel.active) places.use(editor);
    return editor;
  }
}
