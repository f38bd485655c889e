import { join } from 'node:path';
import * as vscode from 'vscode';
import { window, workspace, type ExtensionContext } from 'vscode';
import { DisposableStore, type Disposable } from './core/base/disposable';
import { errorText } from './core/errors';
import { UuidV7 } from './node/runtime/ids';
import type { ApiKeys } from './vscode/models/apiKeys';
import { AnalyticsPanel } from './vscode/panels/analyticsPanel';
import { BreakdownPanel } from './vscode/panels/breakdownPanel';
import { ChatEditors } from './vscode/chat/places/chatEditors';
import { ChatPlaces, type ChatPlace } from './vscode/chat/places/chatPlaces';
import { commandPlace } from './vscode/chat/places/commandPlace';
import { answersFrom } from './vscode/chat/chatRequests';
import type { WindowState } from './vscode/chat/windowState';
import type { ConversationFactory, ConversationFactoryOptions } from './vscode/chat/conversationFactory';
import type { ChatController } from './vscode/chat/chatController';
import { ChatView } from './vscode/chat/chatView';
import { CompactionPreviews, reviewWith } from './vscode/context/compactionPreviews';
import { Configuration } from './vscode/configuration';
import type { ContextKeys } from './vscode/context/contextKeys';
import { focusChatCommand, type CommandName } from './vscode/manifest';
import { endpointOf, type Endpoint } from './vscode/models/endpoint';
import { notifyFull } from './vscode/context/fullContext';
import { FullQuestions } from './vscode/context/fullQuestions';
import { HistoryCommands } from './vscode/history/historyCommands';
import { nestedInstructionFiles } from './vscode/composer/nestedInstructions';
import { askBudget, showKeyStorageBroken, showSessionDeleted, showSettingProblem, warnOfEphemeralStorage } from './vscode/notices';
import { LmModels } from './vscode/models/lmModels';
import type { LazyTree } from './vscode/lazyContributions';
import type { Log } from './vscode/log';
import type { ServerOffer } from './vscode/mcp/serverOffer';
import { ModelNames } from './vscode/models/modelNames';
import { ModelSource } from './vscode/models/modelSource';
import type { Agents } from './vscode/agents/agents';
import { agentsHere } from './vscode/agents/agentsHere';
import { unsearchedText } from './vscode/agents/agentStates';
import { OpenClaw } from './vscode/openClaw/openClaw';
import { openClawSources } from './vscode/openClaw/openClawSources';
import { OtherSessions } from './vscode/sessions/tree/otherSessions';
import { SessionActions } from './vscode/sessions/sessionActions';
import { SessionDocuments } from './vscode/sessions/sessionDocuments';
import type { SessionNode } from './vscode/sessions/tree/sessionNodes';
import { SessionsTree } from './vscode/sessions/tree/sessionsTree';
import { SpendingWatch } from './vscode/models/spendingWatch';
import type { StatusBar } from './vscode/context/statusBar';
import { StoreAccess } from './vscode/history/storeAccess';
import { StoreLocation } from './vscode/history/storeLocation';
import { CommandRunner } from './node/tools/commandRunner';
import { TerminalRunner } from './vscode/tools/terminalRunner';
import { VscodeWorkspace } from './vscode/tools/vscodeWorkspace';
import { editorTools } from './vscode/tools/editorTools';
import { SavedFiles } from './vscode/tools/savedFiles';
import { sharedToolRuns } from './vscode/tools/sharedToolRuns';
import type { RunSharedTool } from './vscode/tools/sharedTools';
import { OpenReview } from './vscode/rewind/openReview';
import { ChangeDocuments } from './vscode/tools/changeDocuments';
import { SummaryFiles } from './vscode/context/summaryFiles';
import { TransferCommands } from './vscode/history/transferCommands';
import { askForCleanUp, askForRetention } from './vscode/sessions/retentionPreview';
import { EmbeddingStatus } from './vscode/sessions/embeddingStatus';
import { meaningNote } from './vscode/sessions/searchAsTyped';
import { cleanUpRule, RetentionRule, trashRule, trimFileContents } from './vscode/sessions/retentionRule';
import { SessionDetailsFiles } from './vscode/sessions/sessionDetailsFiles';
import { CommandRouter } from './vscode/commandRouter';

/** What `activate` has made before anything of a conversation was needed. */
export interface StartedParts {
  readonly context: ExtensionContext;
  readonly log: Log;
  readonly memory: WindowState;
  readonly keys: ApiKeys;
  readonly contextKeys: ContextKeys;
  readonly statusBar: StatusBar;
  readonly servers: ServerOffer;
  readonly sessionsView: LazyTree<SessionNode>;
}

/** VS Code is answered with these parts. */
export interface Composition extends Disposable {
  readonly view: ChatView;
  readonly editors: ChatEditors;
  readonly tree: SessionsTree;
  readonly summaries: SummaryFiles;
  readonly previews: CompactionPreviews;
  readonly details: SessionDetailsFiles;
  readonly breakdown: BreakdownPanel;
  readonly analytics: AnalyticsPanel;
  readonly runSharedTool: RunSharedTool;
  run(command: CommandName, args: readonly unknown[]): Promise<void>;
  /** Ends the running turn in good order. */
  close(): Promise<void>;
}

/** Builds the adapters and hands them to each other. Opens no store and loads neither the provider's SDK nor a tokenizer. */
export function compose(started: StartedParts): Composition {
  const owned = new DisposableStore();
  const configuration = owned.add(new Configuration(started.context.extension.packageJSON, started.log));
  const commands = owned.add(new CommandRunner(() => configuration.current.variables));
  const terminals = owned.add(new TerminalRunner(commands, () => configuration.current.useTerminal));
  const base: Base = { ...started, owned, configuration, commands, terminals, location: new StoreLocation(started.context) };
  const noteSessions = (count: number) => {
    sessions.runRetention();
    void base.location.noteSessions(count).catch((error: unknown) => base.log.debug('registry_not_written', { detail: errorText(error) }));
  };
  const chat = composeChat(base, () => surfaces.view.focusComposer(), noteSessions);
  const agents = base.owned.add(agentsHere(base, async (folder) => (await chat.runtime.get()).openStore(folder, { repair: false })));
  const sessions = composeSessions(base, chat, agents);
  const surfaces = composeSurfaces(base, chat, sessions, { openClaw: () => openClaw.choose(), agents });
  const openClaw = composeOpenClaw(base, chat);
  chat.store.companions.push(openClaw, agents);
  keepCurrent(base, chat);

  const { places, runtime, store, previews } = chat;
  const { workbenchAt, openReview, summaries, details, view, editors, breakdown, analytics } = surfaces;
  return {
    view,
    editors,
    tree: sessions.tree,
    summaries,
    previews,
    details,
    breakdown,
    analytics,
    runSharedTool: sharedToolRuns({
      store: () => store.get(),
      notes: async () => (await runtime.get()).notes(await store.get()),
      session: () => places.active.session?.uuid ?? null,
    }),
    run: (command, args) =>
      workbenchAt(commandPlace(command, args, places, { preview: previews.current?.session, review: openReview.current?.session })).run(
        command,
        args,
      ),
    close: async () => {
      const closing = places.close();
      // They end now, for a window that closes may not be given the time for the rest.
      base.commands.dispose();
      await closing;
      await runtime.close();
    },
    dispose: () => owned.dispose(),
  };
}

/** Every part is built on this. */
interface Base extends StartedParts {
  /** They are disposed of with the composition. */
  readonly owned: DisposableStore;
  readonly configuration: Configuration;
  readonly commands: CommandRunner;
  readonly terminals: TerminalRunner;
  readonly location: StoreLocation;
}

/** Only a conversation needs this. */
interface LazyRuntime {
  /** Loads it when it is first asked for. */
  get(): Promise<ConversationFactory>;
  /** Ends what has been loaded. */
  close(): Promise<void>;
}

interface ChatParts {
  readonly places: ChatPlaces;
  readonly runtime: LazyRuntime;
  readonly store: StoreAccess;
  readonly models: ModelSource;
  readonly fullQuestions: FullQuestions;
  readonly previews: CompactionPreviews;
}

/** The chat itself, whether or not a view shows it. */
function composeChat(base: Base, focusSideBar: () => void, noteSessions: (count: number) => void): ChatParts {
  const { log, memory, keys, owned, configuration, location } = base;
  const previews = owned.add(new CompactionPreviews());
  const fullQuestions: FullQuestions = new FullQuestions((question) => {
    if (places.of(question.session)?.controller.feed.visible) return;
    void notifyFull(question).then((answer) => answer && fullQuestions.answer(question.session, answer));
  });
  const runtime = composeRuntime(base, {
    askWhenFull: fullQuestions.ask,
    reviewCompaction: reviewWith(previews),
    session: () => places.active.session?.uuid ?? '',
    reach: (...way) => models.reach(...way),
  });
  const openStore = async (options: { readonly repair: boolean }) => {
    const { folder, found, related } = await location.resolve();
    log.info('store_located', { folder, found, related: related.length });
    void warnOfEphemeralStorage(
      folder,
      (one) => memory.toldEphemeral(one),
      (one) => memory.setToldEphemeral(one),
    );
    return (await runtime.get()).openStore(folder, options);
  };
  const store = new StoreAccess(openStore, log, async () =>
    (await import('./node/store/sharing/leaseReservation')).reserveLease((await location.resolve()).folder),
  );
  const models = new ModelSource({
    keys,
    bindings: async () => (await runtime.get()).bindings(await store.get()),
    endpoint: endpointIn(configuration),
    others: () => configuration.current,
    setting: () => configuration.current.model,
    offlineChosen: () => memory.offlineChosen(),
    names: owned.add(new ModelNames(memory)),
    log,
  });
  const places: ChatPlaces = owned.add(
    new ChatPlaces({
      store,
      openConversation: async (...session) => (await runtime.get()).openConversation(...session),
      models,
      memory,
      fullQuestions,
      isTrusted: () => workspace.isTrusted,
      policy: () => configuration.current.policy,
      sideBar: {
        reveal: async (options) => void (await vscode.commands.executeCommand(focusChatCommand, options)),
        focusComposer: focusSideBar,
      },
      inEditors: () => memory.sessionsInEditors(),
      noteSessions,
      sessionDeleted: showSessionDeleted,
      cwd: workspace.workspaceFolders?.[0]?.uri.fsPath ?? null,
      ids: new UuidV7(),
      now: Date.now,
      log,
    }),
  );
  return { places, runtime, store, models, fullQuestions, previews };
}

function composeRuntime(
  { context, log, memory, configuration, commands, terminals, owned }: Base,
  asked: Pick<ConversationFactoryOptions, 'askWhenFull' | 'reviewCompaction' | 'session' | 'reach'>,
): LazyRuntime {
  let loaded: Promise<ConversationFactory> | undefined;
  const saved = new SavedFiles();
  context.subscriptions.push(saved);
  const load = async () => {
    const { ConversationFactory } = await import('./vscode/chat/conversationFactory');
    const factory = new ConversationFactory({
      ...asked,
      distDir: join(context.extensionPath, 'dist'),
      folders: () => (workspace.isTrusted ? (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath) : []),
      userNotes: userNotes(context),
      settings: () => configuration.current,
      workspace: new VscodeWorkspace(commands, terminals),
      savedByUser: saved.since,
      unsavedFiles: () => workspace.textDocuments.flatMap(({ isDirty, uri }) => (isDirty ? [uri.fsPath] : [])),
      otherTools: editorTools,
      isTrusted: () => workspace.isTrusted,
      heedsInstructionFiles: () => !memory.instructionFilesOff(),
      nestedInstructionFiles,
      askBudget,
      hosted: new LmModels({ api: vscode, canSend: (model) => context.languageModelAccessInformation.canSendRequest(model), log }),
      log,
    });
    const status = owned.add(new EmbeddingStatus());
    owned.add(factory.embeddings.onDidChange((progress) => status.show(progress)));
    owned.add(configuration.onDidChange(() => factory.embeddings.wake()));
    return factory;
  };
  return { get: () => (loaded ??= load()), close: async () => (await loaded)?.close() };
}

interface SessionParts {
  readonly tree: SessionsTree;
  readonly documents: SessionDocuments;
  /** Carries out what the settings say of old sessions. */
  readonly runRetention: () => void;
}

/** The Sessions view, and what becomes of sessions in the trash. */
function composeSessions(
  { log, memory, contextKeys, sessionsView, owned, configuration, location }: Base,
  { places, runtime, store }: ChatParts,
  agents: Agents,
): SessionParts {
  const others = owned.add(
    new OtherSessions({ list: () => location.others(), open: async (folder) => (await runtime.get()).readStore(folder), log }),
  );
  const documents = owned.add(new SessionDocuments(others));
  const tree = owned.add(
    new SessionsTree({
      sessionsView,
      store,
      places,
      others,
      agents,
      offersRelink: async () => !memory.relinkDeclined() && (await location.likely()) !== undefined,
      sorting: memory,
      now: Date.now,
      log,
      found: ({ unread, relinkOffered, hasTrash }) => {
        contextKeys.set('hasTrash', hasTrash);
        contextKeys.set('sessionsUnread', unread);
        contextKeys.set('relinkOffered', relinkOffered);
      },
    }),
  );
  const common = { store, done: () => tree.refresh(), now: Date.now, log };
  const emptyTrash = new RetentionRule({
    ...common,
    days: () => configuration.current.trashDays,
    memory: memory.retention,
    rule: trashRule,
    ask: askForRetention,
  });
  const cleanUp = new RetentionRule({
    ...common,
    days: () => configuration.current.cleanUpDays,
    memory: memory.cleanUp,
    rule: cleanUpRule(() => places.openSessions),
    ask: askForCleanUp,
  });
  const trim = () => trimFileContents({ ...common, limits: () => configuration.current.fileContents, memory: memory.contents });
  const runRetention = () =>
    void emptyTrash
      .run()
      .then(() => cleanUp.run())
      .then(trim);
  return { tree, documents, runRetention };
}

interface SurfaceParts {
  /** What can be asked for at a place that shows a chat. */
  readonly workbenchAt: (place: ChatPlace) => CommandRouter;
  readonly openReview: OpenReview;
  readonly summaries: SummaryFiles;
  readonly details: SessionDetailsFiles;
  readonly view: ChatView;
  readonly editors: ChatEditors;
  readonly breakdown: BreakdownPanel;
  readonly analytics: AnalyticsPanel;
}

/** What the user sees of the chat and can ask of it. */
function composeSurfaces(
  base: Base,
  chat: ChatParts,
  { tree, documents }: SessionParts,
  watch: { readonly openClaw: () => Promise<void>; readonly agents: Agents },
): SurfaceParts {
  const { context, log, memory, keys, contextKeys, owned, configuration, location } = base;
  const { places, runtime, store, models, fullQuestions, previews } = chat;
  const { extensionUri } = context;
  const storeFolder = async () => (await location.resolve()).folder;
  const care = new HistoryCommands({ places, store, folder: storeFolder, tasks: async () => (await runtime.get()).tasks });
  owned.add(care.watch());
  const summaries = owned.add(
    new SummaryFiles((session) => ((session !== null && places.of(session)) || places.current).controller.active.conversation()),
  );
  const actions = new SessionActions({
    store,
    places,
    ids: new UuidV7(),
    now: Date.now,
    cwd: workspace.workspaceFolders?.[0]?.uri.fsPath ?? null,
    changed: () => void tree.reload(),
  });
  const details = owned.add(new SessionDetailsFiles(actions));
  const changes = owned.add(new ChangeDocuments());
  const restorer = async () => (await runtime.get()).restorer(await store.get());
  const openReview = owned.add(new OpenReview({ changes, shown: (isInFront) => contextKeys.set('reviewing', isInFront) }));
  const workbenches = new WeakMap<ChatPlace, CommandRouter>();
  const workbenchAt = (place: ChatPlace): CommandRouter => {
    const workbench = workbenches.get(place) ?? makeWorkbench(place);
    workbenches.set(place, workbench);
    return workbench;
  };
  const makeWorkbench = (place: ChatPlace) =>
    new CommandRouter({
      place,
      places,
      care,
      composer: {
        store: () => store.get(),
        counter: async () => (await runtime.get()).tokens,
        workspace: () => new VscodeWorkspace(base.commands, base.terminals),
        instructions: async (session) => (await runtime.get()).instructionFiles(session),
        noteFolders: async () => ({ workspace: join(await storeFolder(), 'notes'), user: userNotes(context) }),
      },
      restores: { restorer, choice: () => configuration.current.switchFiles },
      reviews: { reviewer: async () => (await runtime.get()).reviewer(await store.get()), open: openReview },
      transfer: new TransferCommands({ store, active: place.controller.active, changed: () => void tree.reload() }),
      context: { previews, summaries },
      models,
      memory,
      settingOfPolicy: () => configuration.current.policy.preset,
      apiKeys: { keys, endpoint: endpointIn(configuration), verify: async (...key) => (await runtime.get()).verifyKey(...key), log },
      prices: () => configuration.current.prices,
      log,
      changes,
      terminals: base.terminals,
      editRules: () => configuration.current.editRules,
      fullQuestions,
      meaning: async () => {
        const { embeddings } = await runtime.get();
        return () => meaningNote(embeddings.progress, embeddings.searchProblem);
      },
      newSessionTools: async (chosen) => (await runtime.get()).toolsOfNewSession(await store.get(), chosen),
      ids: new UuidV7(),
      openEditor: (session) => editors.open(session),
      showBreakdown: () => breakdown.show(place),
      showAnalytics: () => analytics.show(),
      watchOpenClaw: watch.openClaw,
      watchAgents: () => watch.agents.choose(),
      unsearched: async () => unsearchedText(await watch.agents.states()),
      agents: { folder: storeFolder, context, servers: base.servers },
      sessions: {
        actions,
        details,
        cleanUpDays: () => configuration.current.cleanUpDays,
        tree,
        documents,
        filterChanged: (filtered) => contextKeys.set('sessionsFiltered', filtered),
      },
      relink: { candidates: () => location.candidates(), relink: (candidate) => location.relink(candidate) },
    });
  const answerFor = (place: ChatPlace) => answersFrom(place.controller, workbenchAt(place));
  const view = owned.add(new ChatView({ extensionUri, places, answer: answerFor(places.sideBar), log }));
  const editors = owned.add(new ChatEditors({ extensionUri, places, memory, answerFor, log }));
  const breakdown = owned.add(new BreakdownPanel({ extensionUri, places, store, actionsAt: workbenchAt, log }));
  const analytics = owned.add(
    new AnalyticsPanel({
      extensionUri,
      chats: places,
      store,
      openSession: (uuid) => places.show(uuid, places.sideBar),
      prices: () => configuration.current.prices,
      now: Date.now,
      log,
    }),
  );
  return { workbenchAt, openReview, summaries, details, view, editors, breakdown, analytics };
}

/** Follows a session of OpenClaw from now on, if the settings name one. */
function composeOpenClaw({ log, memory, owned, configuration, location }: Base, { places, runtime }: ChatParts): OpenClaw {
  const openClaw = owned.add(
    new OpenClaw({
      settings: () => configuration.current.openClaw,
      ...openClawSources(join(__dirname, 'sql-wasm.wasm')),
      openStore: async () => (await runtime.get()).openStore((await location.resolve()).folder, { repair: false }),
      shown: () => places.active.session?.uuid ?? null,
      show: (session, focus) => (focus ? places.show(session, places.current) : places.active.openSession(session)),
      tell: (text) => void window.showInformationMessage(`Threadkeeper: ${text}`),
      agreed: memory.transcripts,
      watched: memory.watched,
      ids: new UuidV7(),
      now: Date.now,
      log,
    }),
  );
  owned.add(configuration.onDidChange(() => void openClaw.apply()));
  void openClaw.apply();
  return openClaw;
}

/** The chat follows keys, settings and trust; the status bar and the conditions of menus follow the chat. */
function keepCurrent({ log, keys, contextKeys, statusBar, owned, configuration }: Base, { places, store }: ChatParts): void {
  const spent = owned.add(
    new SpendingWatch({ store: () => store.current, session: () => places.active.session?.uuid ?? null, now: Date.now, log }),
  );
  owned.add(spent.onDidChange((spending) => statusBar.showSpending(spending)));
  owned.add(
    places.onDidChangeState((state) => {
      statusBar.update(state);
      spent.touch();
      contextKeys.update(state);
    }),
  );
  const everywhere = (work: (controller: ChatController) => unknown) => places.all.forEach(({ controller }) => void work(controller));
  const connectionChanged = () => everywhere((one) => one.connectionChanged());
  owned.add(keys.onDidChange(() => connectionChanged()));
  owned.add(keys.onDidBreak(showKeyStorageBroken));
  owned.add(configuration.onDidChange(() => connectionChanged()));
  owned.add(configuration.onDidFindProblem(showSettingProblem));
  owned.add(workspace.onDidGrantWorkspaceTrust(() => everywhere((one) => one.feed.banner())));
  const showProblems = () => statusBar.showProblems(configuration.problems);
  owned.add(configuration.onDidChange(showProblems));
  showProblems();
  for (const problem of configuration.problems) showSettingProblem(problem);
}

function endpointIn(configuration: Configuration): (provider?: Endpoint['provider']) => Endpoint {
  return (provider = 'anthropic') => {
    const { baseUrl, openaiUrl } = configuration.current;
    return endpointOf(provider === 'anthropic' ? baseUrl : openaiUrl, provider);
  };
}

/** Folder of the notes that hold in every workspace. */
function userNotes(context: ExtensionContext): string {
  return join(context.globalStorageUri.fsPath, 'notes');
}
