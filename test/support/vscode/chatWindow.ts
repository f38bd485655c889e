import { inProcessAnalyst } from '../../../src/core/compaction/measure/textAnalysis';
import { Conversation } from '../../../src/core/chat/conversation';
import type { ConversationDeps } from '../../../src/core/chat/conversationDeps';
import { resolveSessionPolicy } from '../../../src/core/context/policy/resolvePolicy';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import type { SessionStore } from '../../../src/core/ports';
import { UuidV7 } from '../../../src/node/runtime/ids';
import type { ModelBindings } from '../../../src/node/runtime/modelBindings';
import type { Delta, ViewSnapshot } from '../../../src/protocol/messages';
import type { ChatController } from '../../../src/vscode/chat/chatController';
import { ChatPlaces } from '../../../src/vscode/chat/places/chatPlaces';
import { WindowState } from '../../../src/vscode/chat/windowState';
import { endpointOf } from '../../../src/vscode/models/endpoint';
import { FullQuestions } from '../../../src/vscode/context/fullQuestions';
import { ModelNames } from '../../../src/vscode/models/modelNames';
import { ModelSource } from '../../../src/vscode/models/modelSource';
import { StoreAccess } from '../../../src/vscode/history/storeAccess';
import { silentLog } from '../chat/conversationRig';
import { says, ScriptedModel } from '../chat/scriptedModel';
import { openTestStore } from '../store/storeTemp';
import { TestClock } from '../chat/testClock';

/** A window: the chat of its side bar with a surface that collects, a real store, a scripted model. */
export class ChatWindow {
  readonly model = new ScriptedModel({ window: 10_000, maxOutput: 1_000 });
  readonly snapshots: ViewSnapshot[] = [];
  readonly deltas: Delta[] = [];
  readonly deleted: string[] = [];
  /** Places that were brought to the front. */
  readonly revealed: string[] = [];
  readonly places: ChatPlaces;
  readonly controller: ChatController;
  readonly memory: WindowState;
  readonly names: ModelNames;
  readonly fullQuestions = new FullQuestions(() => undefined);
  /** Of the conversations that are opened from now on. */
  parts: Partial<ConversationDeps> = {};
  visible = true;

  constructor(folder: string, state = new Map<string, unknown>(), open: () => Promise<SessionStore> = () => openTestStore(folder)) {
    const memento = {
      get: <T>(key: string) => state.get(key) as T,
      update: async (key: string, value: unknown) =>
        void (value === undefined ? state.delete(key) : state.set(key, structuredClone(value))),
    };
    this.memory = new WindowState(memento, memento, silentLog);
    this.names = new ModelNames(this.memory);
    const binding = async () => ({ client: this.model, info: await this.model.describe('scripted-1'), summarizer: null });
    const models = new ModelSource({
      keys: { find: async () => undefined, expected: () => undefined },
      bindings: async () => ({ resolve: binding, list: () => this.model.listModels() }) as unknown as ModelBindings,
      endpoint: () => endpointOf(''),
      others: () => ({ openaiUrl: '', openaiApi: 'chat-completions', openaiContext: 0, ollamaUrl: '', ollamaContext: 0 }),
      setting: () => '',
      offlineChosen: () => this.memory.offlineChosen(),
      names: this.names,
      log: silentLog,
    });
    this.places = new ChatPlaces({
      store: new StoreAccess(open, silentLog),
      openConversation: (store, session, model) => {
        const deps: ConversationDeps = {
          store,
          counter: { count: async (texts) => texts.map(estimateTokens) },
          clock: new TestClock(),
          ids: new UuidV7(),
          log: silentLog,
          tools: () => [],
          otherTools: () => [],
          approvalRule: () => 'allow',
          maxRounds: () => 50,
          instructions: () => '',
          memoryHead: async () => null,
          resolveModel: () => model.resolve(),
          policy: (session) => resolveSessionPolicy({ preset: 'balanced', overrides: {} }, session.policy).policy,
          random: () => 0,
          analyst: inProcessAnalyst,
          pinnedFiles: null,
          askWhenFull: this.fullQuestions.ask,
          ...this.parts,
        };
        return Conversation.open(deps, session.uuid, model.fallback);
      },
      models,
      memory: this.memory,
      fullQuestions: this.fullQuestions,
      isTrusted: () => true,
      policy: () => ({ preset: 'balanced', overrides: {} }),
      noteSessions: () => undefined,
      sideBar: { reveal: async () => void this.revealed.push('side bar'), focusComposer: () => undefined },
      inEditors: () => this.memory.sessionsInEditors(),
      sessionDeleted: (title) => this.deleted.push(title),
      cwd: null,
      ids: new UuidV7(),
      now: Date.now,
      log: silentLog,
    });
    this.controller = this.places.sideBar.controller;
    const isVisible = () => this.visible;
    this.controller.feed.attach({
      get visible() {
        return isVisible();
      },
      get ready() {
        return isVisible();
      },
      snapshot: (snapshot) => this.snapshots.push(snapshot),
      delta: (delta) => this.deltas.push(delta),
    });
  }

  close(): Promise<void> {
    return this.places.close();
  }

  async ask(text: string, reply = 'Yes.'): Promise<void> {
    this.model.scripts.push(says(reply));
    await this.controller.active.send(new UuidV7().next(), text);
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.controller.state.busy) await new Promise((resolve) => setImmediate(resolve));
  }

  get last(): ViewSnapshot {
    return this.snapshots.at(-1)!;
  }

  /** Text of the rows that a view opening now would get. */
  async texts(): Promise<string[]> {
    await this.controller.ready();
    return this.last.rows.map((row) => (row.kind === 'user' ? row.text : row.kind === 'assistant' ? row.markdown : row.kind));
  }
}
