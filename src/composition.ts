import { join } from 'node:path';
import * as vscode from 'vscode';
import { window, workspace, type ExtensionContext } from 'vscode';
import { DisposableStore, type Disposable } from './core/base/disposable';
import { errorText } from './core/errors';
import { UuidV7 } from './node/runtime/uuidV7';
import type { ApiKeys } from './vscode/apiKeys';
import { AnalyticsPanel } from './vscode/analyticsPanel';
import { BreakdownPanel } from './vscode/breakdownPanel';
import { ChatController } from './vscode/chatController';
import type { ChatMemory } from './vscode/chatMemory';
import type { ChatRuntime } from './vscode/chatRuntime';
import { ChatView } from './vscode/chatView';
import { CompactionPreviews } from './vscode/compactionPreviews';
import { reviewWith } from './vscode/compactionReview';
import { Configuration } from './vscode/configuration';
import type { ContextKeys } from './vscode/contextKeys';
import type { CommandName } from './vscode/contributions';
import { endpointOf, type Endpoint } from './vscode/endpoint';
import { notifyFull } from './vscode/fullContext';
import { FullQuestions } from './vscode/fullQuestions';
import { HistoryCare } from './vscode/historyCare';
import { warnOfEphemeralStorage } from './vscode/ephemeralNotice';
import { LmModels } from './vscode/lmModels';
import type { LazyTree } from './vscode/lazyTree';
import type { Log } from './vscode/log';
import { ModelNames } from './vscode/modelNames';
import { ModelSource } from './vscode/modelSource';
import { askBudget, showKeyStorageBroken, showSessionDeleted, showSettingProblem } from './vscode/notices';
import { OpenClaw } from './vscode/openClaw';
import { OtherSessions } from './vscode/otherSessions';
import { askForRetention } from './vscode/retentionPreview';
import { SessionActions } from './vscode/sessionActions';
import { SessionDocuments } from './vscode/sessionDocuments';
import type { SessionNode } from './vscode/sessionNodes';
import { SessionsTree } from './vscode/sessionsTree';
import { SpendingWatch } from './vscode/spendingWatch';
import type { StatusBar } from './vscode/statusBar';
import { StoreAccess } from './vscode/storeAccess';
import { StoreLocation } from './vscode/storeLocation';
import { VscodeWorkspace } from './vscode/tools/vscodeWorkspace';
import { editorTools } from './vscode/tools/editorTools';
import { sharedToolRuns } from './vscode/tools/sharedToolRuns';
import type { RunSharedTool } from './vscode/tools/sharedTools';
import { ChangeDocuments } from './vscode/tools/changeDocuments';
import { SummaryFiles } from './vscode/summaryFiles';
import { TransferCommands } from './vscode/transferCommands';
import { TrashRetention } from './vscode/trashRetention';
import { isTrusted, onDidGrantTrust } from './vscode/trust';
import { WorkbenchCommands } from './vscode/workbenchCommands';
import { VscodeWorkspaceText } from './vscode/workspaceText';

/** What `activate` has made before anything of a conversation was needed. */
export interface StartedParts {
  readonly context: ExtensionContext;
  readonly log: Log;
  readonly memory: ChatMemory;
  readonly keys: ApiKeys;
  readonly contextKeys: ContextKeys;
  readonly statusBar: StatusBar;
  readonly sessionsView: LazyTree<SessionNode>;
}

/** What VS Code is answered with. */
export interface Composition extends Disposable {
  readonly view: ChatView;
  readonly tree: SessionsTree;
  readonly summaries: SummaryFiles;
  readonly previews: CompactionPreviews;
  readonly breakdown: BreakdownPanel;
  readonly analytics: AnalyticsPanel;
  readonly runSharedTool: RunSharedTool;
  run(command: CommandName, args: readonly unknown[]): Promise<void>;
  /** Ends the running turn in good order. */
  close(): Promise<void>;
}

/** Builds the adapters and hands them to each other. Opens no store and loads neither the provider's SDK nor a tokenizer. */
export function compose({ context, log, memory, keys, contextKeys, statusBar, sessionsView }: StartedParts): Composition {
  const owned = new DisposableStore();
  let controller: ChatController | undefined;
  let runtime: Promise<ChatRuntime> | undefined;
  const configuration = owned.add(new Configuration(log));
  const endpoint = (provider: Endpoint['provider'] = 'anthropic') => {
    const { baseUrl, openaiUrl } = configuration.current;
    return endpointOf(provider === 'anthropic' ? baseUrl : openaiUrl, provider);
  };
  const location = new StoreLocation(context);
  const previews = owned.add(new CompactionPreviews());

  const fullQuestions: FullQuestions = new FullQuestions((question) => {
    if (controller?.viewVisible && controller.session?.uuid === question.session) return;
    void notifyFull(question).then((answer) => answer && fullQuestions.answer(question.session, answer));
  });

  const loadRuntime = (): Promise<ChatRuntime> =>
    (runtime ??= import('./vscode/chatRuntime').then(
      ({ ChatRuntime }) =>
        new ChatRuntime({
          distDir: join(context.extensionPath, 'dist'),
          files: new VscodeWorkspaceText(isTrusted),
          folders: () => (isTrusted() ? (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath) : []),
          userNotes: join(context.globalStorageUri.fsPath, 'notes'),
          settings: () => configuration.current,
          workspace: new VscodeWorkspace(),
          otherTools: editorTools,
          isTrusted,
          askWhenFull: fullQuestions.ask,
          reviewCompaction: reviewWith(previews),
          session: () => controller?.session?.uuid ?? '',
          askBudget,
          reach: (...way) => models.reach(...way),
          hosted: new LmModels({ api: vscode, canSend: (model) => context.languageModelAccessInformation.canSendRequest(model), log }),
          log,
        }),
    ));
  const store = new StoreAccess(async (options) => {
    const { folder, found, related } = await location.resolve();
    log.info('store_located', { folder, found, related: related.length });
    void warnOfEphemeralStorage(folder, (one) => memory.toldEphemeral(one), (one) => memory.setToldEphemeral(one));
    return (await loadRuntime()).openStore(folder, options);
  }, log, async () => (await import('./node/store/leaseReservation')).reserveLease((await location.resolve()).folder));
  const models = new ModelSource({
    keys,
    bindings: async () => (await loadRuntime()).bindings(await store.get()),
    endpoint,
    others: () => configuration.current,
    setting: () => configuration.current.model,
    offlineChosen: () => memory.offlineChosen(),
    names: owned.add(new ModelNames(memory)),
    log,
  });
  const chat = (controller = owned.add(
    new ChatController({
      store,
      openConversation: async (...session) => (await loadRuntime()).openConversation(...session),
      models,
      memory,
      fullQuestions,
      isTrusted,
      policy: () => configuration.current.policy,
      noteSessions: (count) => {
        void retention.run();
        void location.noteSessions(count).catch((error: unknown) => log.debug('registry_not_written', { detail: errorText(error) }));
      },
      sessionDeleted: showSessionDeleted,
      cwd: workspace.workspaceFolders?.[0]?.uri.fsPath ?? null,
      ids: new UuidV7(),
      now: Date.now,
      log,
    }),
  ));
  const others = owned.add(
    new OtherSessions({ list: () => location.others(), open: async (folder) => (await loadRuntime()).readStore(folder), log }),
  );
  const documents = owned.add(new SessionDocuments(others));
  const tree = owned.add(
    new SessionsTree({
      sessionsView,
      store,
      controller: chat,
      others,
      offersRelink: async () => !memory.relinkDeclined() && (await location.likely()) !== undefined,
      now: Date.now,
      log,
      found: ({ unread, relinkOffered, hasTrash }) => {
        contextKeys.set('hasTrash', hasTrash);
        contextKeys.set('sessionsUnread', unread);
        contextKeys.set('relinkOffered', relinkOffered);
      },
    }),
  );
  const care = new HistoryCare({ controller: chat, store, folder: async () => (await location.resolve()).folder, tasks: async () => (await loadRuntime()).tasks });
  owned.add(care.watch());
  const retention = new TrashRetention({
    store,
    days: () => configuration.current.trashDays,
    memory: memory.retention,
    ask: askForRetention,
    purged: () => tree.refresh(),
    now: Date.now,
    log,
  });
  const summaries = owned.add(new SummaryFiles(chat));
  const workbench = new WorkbenchCommands({
    controller: chat,
    care,
    composer: {
      store: () => store.get(),
      counter: async () => (await loadRuntime()).tokens,
      noteFolders: async () => ({ workspace: join((await location.resolve()).folder, 'notes'), user: join(context.globalStorageUri.fsPath, 'notes') }),
    },
    transfer: new TransferCommands({ store, controller: chat, changed: () => void tree.reload() }),
    context: { previews, summaries },
    models,
    memory,
    settingOfPolicy: () => configuration.current.policy.preset,
    apiKeys: { keys, endpoint, verify: async (...key) => (await loadRuntime()).verifyKey(...key), log },
    prices: () => configuration.current.prices,
    log,
    changes: owned.add(new ChangeDocuments()),
    fullQuestions,
    ids: new UuidV7(),
    focusComposer: () => view.focusComposer(),
    showBreakdown: () => breakdown.show(),
    showAnalytics: () => analytics.show(),
    watchOpenClaw: () => openClaw.choose(),
    sessions: {
      actions: new SessionActions({ store, controller: chat, ids: new UuidV7(), now: Date.now, changed: () => void tree.reload() }),
      tree,
      documents,
      filterChanged: (filtered) => contextKeys.set('sessionsFiltered', filtered),
    },
    relink: { candidates: () => location.candidates(), relink: (candidate) => location.relink(candidate) },
  });
  const view = owned.add(new ChatView({ extensionUri: context.extensionUri, controller: chat, workbench, log }));
  const breakdown = owned.add(new BreakdownPanel({ extensionUri: context.extensionUri, controller: chat, store, actions: workbench, log }));
  const analytics = owned.add(new AnalyticsPanel({ extensionUri: context.extensionUri, controller: chat, store, openSession: (uuid) => workbench.openSession(uuid), now: Date.now, log }));
  const wasmFile = join(__dirname, 'sql-wasm.wasm');
  const openClaw: OpenClaw = owned.add(
    new OpenClaw({
      settings: () => configuration.current.openClaw,
      find: async (path) => (await import('./node/transfer/findOpenClaw')).findOpenClaw(path, wasmFile),
      watch: async (place, key, options) => {
        const { OpenClawWatch } = await import('./node/transfer/openClawWatch');
        if (place.type === 'database') return new OpenClawWatch({ ...options, source: new (await import('./node/transfer/openClawDatabase')).OpenClawDatabase(place.file, key, wasmFile) });
        return new OpenClawWatch({ ...options, source: new (await import('./node/transfer/openClawFolder')).OpenClawFolder(place.folder, key) });
      },
      openStore: async () => (await loadRuntime()).openStore((await location.resolve()).folder, { repair: false }),
      shown: () => chat.session?.uuid ?? null,
      show: (session, focus) => (focus ? workbench.openSession(session) : chat.openSession(session)),
      tell: (text) => void window.showInformationMessage(`Threadkeeper: ${text}`),
      agreed: memory.transcripts,
      ids: new UuidV7(),
      now: Date.now,
      log,
    }),
  );
  store.companion = openClaw;
  owned.add(configuration.onDidChange(() => void openClaw.apply()));
  void openClaw.apply();

  const spent = owned.add(new SpendingWatch({ store: () => store.current, session: () => chat.session?.uuid ?? null, now: Date.now, log }));
  owned.add(spent.onDidChange((spending) => statusBar.showSpending(spending)));
  owned.add(
    chat.onDidChangeState((state) => {
      statusBar.update(state);
      spent.touch();
      contextKeys.update(state);
    }),
  );
  owned.add(keys.onDidChange(() => void chat.connectionChanged()));
  owned.add(keys.onDidBreak(showKeyStorageBroken));
  owned.add(configuration.onDidChange(() => void chat.connectionChanged()));
  owned.add(configuration.onDidFindProblem(showSettingProblem));
  owned.add(onDidGrantTrust(() => chat.trustChanged()));
  const showProblems = () => statusBar.showProblems(configuration.problems);
  owned.add(configuration.onDidChange(showProblems));
  showProblems();
  for (const problem of configuration.problems) showSettingProblem(problem);
  return {
    view,
    tree,
    summaries,
    previews,
    breakdown,
    analytics,
    runSharedTool: sharedToolRuns({ store: () => store.get(), notes: async () => (await loadRuntime()).notes(await store.get()), session: () => chat.session?.uuid ?? null }),
    run: (command, args) => workbench.run(command, args),
    close: async () => {
      await controller?.close();
      await (await runtime)?.close();
    },
    dispose: () => owned.dispose(),
  };
}
