import { dirname, join } from 'node:path';
import { Conversation } from '../../core/chat/conversation';
import type { ConversationDeps } from '../../core/chat/conversationDeps';
import type { AskWhenFull, ReviewCompaction } from '../../core/chat/turn/turn';
import { sumOf, DailyBudget } from '../../core/cost/spending';
import { heedsFiles } from './instructionSwitch';
import { costOf, priceOf } from '../../core/cost/prices';
import { createAsideTool } from '../../core/aside/asideTool';
import { OfflineModel } from '../../core/offline/offlineModel';
import type { Logger, MemoryNotes, SessionStore, TokenCounter } from '../../core/ports';
import type { Session } from '../../core/session/session';
import type { Elsewhere } from '../../core/recall/answers/elsewhere';
import { WorkspacePassages } from '../../core/recall/workspacePassages';
import { approvalRule } from '../../core/tools/approvalRule';
import type { Tool } from '../../core/tools/tool';
import { chosenToolsKey, ToolBox, type ListedTool } from '../../core/tools/toolBox';
import type { ToolWorkspace } from '../../core/tools/toolWorkspace';
import { workspaceTools } from '../../core/tools/workspaceTools';
import { english, t } from '../../core/l10n';
import { FileMemoryNotes, ScopedMemoryNotes } from '../../node/memory/fileMemoryNotes';
import { findSkills } from '../../node/skills/findSkills';
import { instructionsText, readInstructionFiles, type InstructionFile } from '../../node/memory/instructionFiles';
import { Embeddings } from '../../node/embeddings/embeddings';
import { WorkerAnalyst } from '../../node/analysis/workerAnalyst';
import { conversationDeps } from '../../node/runtime/conversationDeps';
import { systemClock } from '../../node/runtime/systemClock';
import { ModelBindings, type HostedModels } from '../../node/runtime/modelBindings';
import type { ProviderId } from '../../core/models/providers';
import { createClient, type ProviderAccess } from '../../node/models/providerAccess';
import { fileRecorder, rewindFolder } from '../../node/rewind/fileRecorder';
import type { FileWrites } from '../../node/rewind/fileWrites';
import { FileRestorer } from '../../node/rewind/fileRestorer';
import { TurnReviewer } from '../../node/rewind/turnReviewer';
import { resumeRestores } from '../../node/rewind/resumeRestores';
import { UuidV7 } from '../../node/runtime/ids';
import { openStore } from '../../node/store/client/openStore';
import { WorkerTokenCounter } from '../../node/tokens/workerTokenCounter';
import type { Endpoint } from '../models/endpoint';
import type { SessionModel } from './sessionTab';
import { StoreTasks } from '../history/storeTasks';
import type { Settings } from '../settingsValues';

export interface ConversationFactoryOptions {
  /** Where the workers lie. */
  readonly distDir: string;
  /** Folders of the workspace on this disk. */
  readonly folders: () => readonly string[];
  /** Folder of the notes that hold in every workspace. */
  readonly userNotes: string;
  readonly settings: () => Settings;
  readonly workspace: ToolWorkspace;
  /** What the user and the sessions write in the workspace. */
  readonly writes: FileWrites;
  /** Files that an editor has changed and not saved. */
  readonly unsavedFiles: () => readonly string[];
  readonly otherTools: () => readonly Tool[];
  readonly isTrusted: () => boolean;
  /** The workspace's instruction files count, unless a session says otherwise. */
  readonly heedsInstructionFiles: () => boolean;
  /** Instruction files in folders below the workspace's own, by their paths. Never rejects. */
  readonly nestedInstructionFiles: () => Promise<readonly string[]>;
  readonly askWhenFull: AskWhenFull;
  readonly reviewCompaction: ReviewCompaction;
  /** The session that offline answers search first. */
  readonly session: () => string;
  /** Whether to go on although the day's budget is spent; dollars. */
  readonly askBudget: (spent: number, budget: number) => Promise<boolean>;
  /** As far as is known without asking the keychain. */
  readonly hasKey: () => boolean;
  /** How a provider is reached. Rejects with `ModelError`. */
  readonly reach: (provider: ProviderId, url: string | undefined) => Promise<ProviderAccess>;
  /** Other workspaces, as far as the user lets recall read them. */
  readonly elsewhere: () => Elsewhere | null;
  /** The models of VS Code. */
  readonly hosted: HostedModels;
  readonly log: Logger;
}

interface WorkspaceInstructions {
  readonly files: readonly InstructionFile[];
  readonly text: string;
}

const keyHint = () => t('To chat with Claude, press *Set API key…* below. [Get an API key](https://console.anthropic.com/settings/keys)');

/** The parts that a conversation is made of; nothing of it is loaded before the first one is opened. */
export class ConversationFactory {
  private readonly counter: WorkerTokenCounter;
  private readonly analyst: WorkerAnalyst;
  /** Finding by meaning, in every store that is opened here. */
  readonly embeddings: Embeddings;
  /** As the sessions that are open have them, by their UUIDs. */
  private readonly instructionsOf = new Map<string, WorkspaceInstructions>();
  private readonly clients = new WeakMap<SessionStore, { readonly notes: MemoryNotes; readonly bindings: ModelBindings }>();

  constructor(private readonly options: ConversationFactoryOptions) {
    this.counter = new WorkerTokenCounter(join(options.distDir, 'tokenWorker.js'), options.log);
    this.analyst = new WorkerAnalyst(join(options.distDir, 'analystWorker.js'), options.log);
    this.embeddings = new Embeddings({
      choice: () => options.settings().embeddings,
      reach: options.reach,
      clock: systemClock,
      log: options.log,
    });
  }

  async openStore(folder: string, options: { readonly repair: boolean }): Promise<SessionStore> {
    const { distDir, log } = this.options;
    const store = await openStore({
      folder,
      workerFile: join(distDir, 'storeWorker.js'),
      label: english('VS Code window'),
      logger: log,
      repair: options.repair,
    });
    // Before anybody works with files that a crash has left half way.
    await resumeRestores(join(folder, 'rewind'), store, log);
    this.embeddings.follow(store);
    return this.embeddings.searching(store);
  }

  get tokens(): TokenCounter {
    return this.counter;
  }

  get tasks(): StoreTasks {
    return new StoreTasks(this.options.distDir);
  }

  /** Reads the store of another workspace: of the window that has it open, which copies nothing, else a copy. Rejects with `StoreError`. */
  readStore(folder: string): Promise<SessionStore> {
    const { distDir, log } = this.options;
    return openStore({
      folder,
      workerFile: join(distDir, 'storeWorker.js'),
      label: english('VS Code window'),
      logger: log,
      readonly: 'join',
    });
  }

  /** What a session would have that begins now, with rough sizes; `chosen`: those that are on, null for the usual ones. Never rejects. */
  async toolsOfNewSession(store: SessionStore, chosen: readonly string[] | null): Promise<readonly ListedTool[]> {
    const { tools, otherTools } = await this.depsOf(store, '', () =>
      Promise.reject(new Error(english('This session has no messages yet.'))),
    );
    const branch = { session: { uuid: '', metadata: { [chosenToolsKey]: chosen } } };
    const own = [...tools(() => undefined), createAsideTool(null)];
    return new ToolBox(own, otherTools, { store, branch, tokensOf: (text) => Math.ceil(text.length / 4), budget: () => 0 }).list();
  }

  /** Rejects with `StoreError`. */
  async openConversation(store: SessionStore, session: Session, model: SessionModel): Promise<Conversation> {
    const opened: { conversation?: Conversation } = {};
    const metadata = () => (opened.conversation?.session ?? session).metadata;
    const deps = await this.depsOf(
      store,
      session.uuid,
      () => model.resolve(),
      () => heedsFiles(metadata()),
    );
    return (opened.conversation = await Conversation.open(deps, session.uuid, model.fallback));
  }

  /** What the workspace's instruction files say to a session that is open, or (null) to one that begins now. Never rejects. */
  async instructionFiles(session: string | null): Promise<readonly (InstructionFile & { readonly tokens: number })[]> {
    const known = (session === null ? undefined : this.instructionsOf.get(session)) ?? (await this.readInstructions());
    const tokens = await this.counter.count(known.files.map(({ text }) => text));
    return known.files.map((file, index) => ({ ...file, tokens: tokens[index] ?? 0 }));
  }

  private async readInstructions(): Promise<WorkspaceInstructions> {
    if (!this.options.settings().instructionFiles || !this.options.isTrusted()) return { files: [], text: '' };
    const [files, nested] = await Promise.all([readInstructionFiles(this.options.folders()), this.options.nestedInstructionFiles()]);
    return { files, text: instructionsText(files, nested) };
  }

  private async depsOf(
    store: SessionStore,
    session: string,
    resolveModel: SessionModel['resolve'],
    heeds: () => boolean = () => true,
  ): Promise<ConversationDeps> {
    const { settings, log } = this.options;
    // They are read once, so that the prompt of the session stays as it begins.
    const ofWorkspace = await this.readInstructions();
    if (session !== '') this.instructionsOf.set(session, ofWorkspace);
    const skills = this.options.isTrusted()
      ? await findSkills({ folders: settings().skillFolders, workspace: settings().skills ? this.options.folders() : [] }, log)
      : [];
    const recorder = fileRecorder({ store, workspace: this.options.workspace, log, writes: this.options.writes });
    return conversationDeps({
      store,
      recorder,
      counter: this.counter,
      analyst: this.analyst,
      folders: () => (this.options.isTrusted() ? this.options.workspace.folders : []),
      notes: this.of(store).notes,
      log,
      session,
      elsewhere: this.options.elsewhere,
      approvalRule: (question, tool) => approvalRule(question, tool, settings().approval, this.options.isTrusted()),
      maxRounds: () => settings().maxRounds,
      recallHints: () => settings().recallHints,
      otherTools: this.options.otherTools,
      tools: () =>
        this.options.workspace.folders.length > 0 ? workspaceTools(recorder.workspace, systemClock, () => settings().editRules) : [],
      askWhenFull: this.options.askWhenFull,
      reviewCompaction: this.options.reviewCompaction,
      skills,
      instructions: () => {
        const isHeeded = settings().instructionFiles && this.options.heedsInstructionFiles() && heeds();
        return [settings().instructions, isHeeded ? ofWorkspace.text : ''].filter((part) => part.trim() !== '').join('\n\n');
      },
      offerBranchSummary: () => settings().offerBranchSummary,
      cacheTime: () => settings().cacheTime,
      policy: () => settings().policy,
      costOf: (provider, id, usage) => costOf(priceOf(settings().prices, provider, id), usage),
      resolveModel,
    });
  }

  /** Restores files of the workspace as a session's records say. */
  restorer(store: SessionStore): FileRestorer {
    const { workspace, unsavedFiles, writes, log } = this.options;
    return new FileRestorer({
      store,
      folders: () => workspace.folders,
      storage: rewindFolder(store),
      isUnsaved: (path) => unsavedFiles().includes(path),
      writes,
      ids: new UuidV7(),
      now: Date.now,
      log,
    });
  }

  /** Reviews what turns of its sessions have changed. */
  reviewer(store: SessionStore): TurnReviewer {
    return new TurnReviewer(store, this.restorer(store));
  }

  bindings(store: SessionStore): ModelBindings {
    return this.of(store).bindings;
  }

  notes(store: SessionStore): MemoryNotes {
    return this.of(store).notes;
  }

  /** Whether a key is let in. Rejects with `ModelError`. */
  async verifyKey(apiKey: string, { provider, baseUrl }: Endpoint): Promise<void> {
    const client = await createClient(
      { provider, apiKey, baseURL: baseUrl, api: 'chat-completions', contextTokens: null },
      this.options.log,
    );
    await client.listModels();
  }

  async close(): Promise<void> {
    this.embeddings.dispose();
    this.analyst.dispose();
    await this.counter.close();
  }

  private of(store: SessionStore): { readonly notes: MemoryNotes; readonly bindings: ModelBindings } {
    let known = this.clients.get(store);
    if (!known) {
      const { workspace, isTrusted, session, log, userNotes, reach, hosted, settings, askBudget } = this.options;
      const budget = new DailyBudget({
        budget: () => settings().dailyBudget,
        spentSince: async (from) => sumOf(await store.usageTotals({ from, own: true })).cost,
        ask: askBudget,
        now: Date.now,
      });
      const notes = new ScopedMemoryNotes(new FileMemoryNotes(join(dirname(store.status.file), 'notes')), new FileMemoryNotes(userNotes));
      known = {
        notes,
        bindings: new ModelBindings({
          offline: new OfflineModel({
            store,
            notes,
            files: new WorkspacePassages({ workspace, clock: systemClock, mayRead: isTrusted }),
            session,
            keyHint: () => (this.options.hasKey() ? t('For AI answers, choose a model below.') : keyHint()),
          }),
          log,
          reach,
          hosted,
          budget: (mayAsk) => budget.check(mayAsk),
        }),
      };
      this.clients.set(store, known);
    }
    return known;
  }
}
