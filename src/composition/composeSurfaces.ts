import { join } from 'node:path';
import { workspace } from 'vscode';
import { UuidV7 } from '../node/runtime/ids';
import { AnalyticsPanel } from '../vscode/panels/analyticsPanel';
import { BreakdownPanel } from '../vscode/panels/breakdownPanel';
import { ChatEditors } from '../vscode/chat/places/chatEditors';
import type { ChatPlace } from '../vscode/chat/places/chatPlaces';
import { answersFrom } from '../vscode/chat/chatRequests';
import { ChatView } from '../vscode/chat/chatView';
import { HistoryCommands } from '../vscode/history/historyCommands';
import type { Agents } from '../vscode/agents/agents';
import type { SyncHere } from '../vscode/sync/syncHere';
import { unsearchedText } from '../vscode/agents/agentStates';
import { SessionActions } from '../vscode/sessions/sessionActions';
import { VscodeWorkspace } from '../vscode/tools/vscodeWorkspace';
import { OpenReview } from '../vscode/rewind/openReview';
import { ChangeDocuments } from '../vscode/tools/changeDocuments';
import { SummaryFiles } from '../vscode/context/summaryFiles';
import { TransferCommands } from '../vscode/history/transferCommands';
import { meaningNote } from '../vscode/sessions/searchAsTyped';
import { SessionDetailsFiles } from '../vscode/sessions/sessionDetailsFiles';
import { CommandRouter } from '../vscode/commandRouter';
import { type Base, endpointIn, userNotes } from './base';
import type { ChatParts } from './composeChat';
import type { SessionParts } from './composeSessions';

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
export function composeSurfaces(
  base: Base,
  chat: ChatParts,
  { tree, documents, otherHistories }: SessionParts,
  watch: { readonly openClaw: () => Promise<void>; readonly agents: Agents; readonly sync: SyncHere },
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
      transfer: new TransferCommands({
        store,
        active: place.controller.active,
        show: (session) => places.show(session, place),
        changed: () => void tree.reload(),
      }),
      context: { previews, summaries },
      models,
      memory,
      ran: (command) => base.walkthrough.ran(command),
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
      sync: watch.sync,
      otherHistories,
      unsearched: async () => unsearchedText(await watch.agents.states()),
      agents: { folder: storeFolder, context, servers: base.servers },
      sessions: {
        actions,
        details,
        cleanUpDays: () => configuration.current.cleanUpDays,
        tree,
        documents,
        filterChanged: (filtered) => contextKeys.set('sessionsFiltered', filtered),
        allShown: (are) => contextKeys.set('allWorkspaces', are),
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
