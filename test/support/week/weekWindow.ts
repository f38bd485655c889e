import type { ConversationDeps } from '../../../src/core/chat/conversationDeps';
import type { ModelBinding } from '../../../src/core/context/engine';
import type { SessionStore } from '../../../src/core/ports';
import type { ChatPlace } from '../../../src/vscode/chat/places/chatPlaces';
import { openTestStore } from '../store/storeTemp';
import { ChatWindow } from '../vscode/chatWindow';
import type { WeekClock } from './weekClock';
import type { WeekModel, WeekSummarizer } from './weekModel';

export type WeekPlace = Pick<ChatPlace, 'controller'>;

export interface WeekWindowDeps {
  readonly clock: WeekClock;
  readonly model: WeekModel;
  readonly summarizer: WeekSummarizer;
}

/** A window that can be closed and opened again, and finds its chats again as VS Code would give them back. */
export class WeekWindow {
  places: readonly WeekPlace[] = [];
  private readonly state = new Map<string, unknown>();
  private window: ChatWindow | null = null;
  private opened: SessionStore | null = null;

  constructor(
    private readonly folder: string,
    private readonly label: string,
    private readonly deps: WeekWindowDeps,
  ) {}

  /** Its own way to the history. */
  get store(): SessionStore {
    if (!this.opened) throw new Error('the window is closed');
    return this.opened;
  }

  /** The side bar, and so many chats in editors that it makes `tabs`. */
  async open(tabs: number): Promise<SessionStore> {
    const window = new ChatWindow(this.folder, this.state, async () => (this.opened = await openTestStore(this.folder, this.label)));
    this.window = window;
    const { clock, model, summarizer } = this.deps;
    const resolveModel = async (): Promise<ModelBinding> => ({ client: model, info: await model.describe('week-1'), summarizer });
    window.parts = { clock, resolveModel } satisfies Partial<ConversationDeps>;
    const editors = Array.from({ length: tabs - 1 }, (_, i) => this.editor(window, `editor-${i}`));
    this.places = [window.places.sideBar, ...editors];
    for (const { controller } of this.places) await controller.ready();
    return this.store;
  }

  get isBusy(): boolean {
    return this.places.some(({ controller }) => controller.state.busy);
  }

  /** What each place does, for a failure's text. */
  get phases(): string {
    return this.places.map(({ controller }) => controller.active.chat?.presenter.turnState?.phase ?? '-').join();
  }

  async close(): Promise<void> {
    await this.window?.close();
    this.window?.places.dispose();
    this.window = null;
    this.places = [];
    this.opened = null;
  }

  private editor({ places, memory }: ChatWindow, id: string): WeekPlace {
    const editor: ChatPlace = {
      controller: places.controllerFor(() => editor, memory.chatEditor(id)),
      reveal: async () => undefined,
      focusComposer: () => undefined,
      leave: async () => undefined,
    };
    places.add(editor);
    editor.controller.feed.attach({ visible: true, ready: true, snapshot: () => undefined, delta: () => undefined });
    return editor;
  }
}
