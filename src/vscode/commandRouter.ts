import { join } from 'node:path';
import { window, type ExtensionContext } from 'vscode';
import { whyThisLine } from './attribution/whyThisLine';
import { askWithoutHistory } from './models/askWithoutHistory';
import { isMemoryWrite } from '../core/memory/nudges';
import { wholeNoteChange } from '../core/memory/notes';
import type { EditRules } from '../core/tools/guard/guardedKinds';
import { callChange } from '../core/tools/files/callChange';
import type { FileChange } from '../core/tools/tool';
import { shown, t } from '../core/l10n';
import type { PriceTable } from '../core/cost/prices';
import { errorText, StoreError } from '../core/errors';
import type { IdSource } from '../core/ports';
import { storeActionText } from './history/storeAccess';
import { searchTyped } from '../core/recall/parseSearchText';
import { ApprovalCommands } from './tools/approvalCommands';
import { pickTools } from './tools/toolPickers';
import type { TerminalRunner } from './tools/terminalRunner';
import { BranchCommands, type BranchCommandName } from './sessions/branchCommands';
import type { ApiKeyCommandsDeps } from './models/apiKeyCommands';
import type { ChatController } from './chat/chatController';
import type { ChatPlace, ChatPlaces } from './chat/places/chatPlaces';
import type { WindowState } from './chat/windowState';
import type { FullAnswer } from '../protocol/messages';
import type { WorkbenchActions } from './chat/chatRequests';
import { ComposerActions, type ComposerActionsDeps, type ComposerCommandName } from './composer/composerActions';
import { ContextCommands, type ContextCommandName, type ContextCommandsDeps } from './context/contextCommands';
import { answerFull, pickFullAnswer } from './context/fullContext';
import type { FullQuestions } from './context/fullQuestions';
import { openNote, readNote, saveNote } from './context/memoryNotes';
import type { AllCommands, CommandName } from './manifest';
import { CodeActions } from './composer/codeActions';
import { copyText, existingFiles, insertCode, manageTrust, openCode, openLink, openSettings } from './composer/editorActions';
import type { HistoryCommands, HistoryCommandsCommandName } from './history/historyCommands';
import { showEntry } from './sessions/sessionDocuments';
import { pickFromHistory } from './sessions/historySearch';
import type { OtherHistories } from './sessions/searchOthers';
import type { Log } from './log';
import { HandOverCommand, type HandOverCommandName } from './agents/handOverCommand';
import { AgentCommands, type AgentCommandName } from './mcp/agentCommands';
import type { ServerOffer } from './mcp/serverOffer';
import type { OpenReview } from './rewind/openReview';
import { ReviewCommands, type ReviewCommandName, type ReviewCommandsDeps } from './rewind/reviewCommands';
import { RestoreCommands, type RestoreCommandName, type RestoreCommandsDeps } from './rewind/restoreCommands';
import { ModelCommands } from './models/modelCommands';
import { pickPolicy, policyName, savePolicySetting } from './context/contextPickers';
import type { ModelSource } from './models/modelSource';
import type { SyncCommandName, SyncHere } from './sync/syncHere';
import { relinkHistory, type RelinkDeps } from './history/relink';
import type { ChangeDocuments } from './tools/changeDocuments';
import type { TransferCommandName, TransferCommands } from './history/transferCommands';
import type { WaitingSession } from './chat/waitingSession';
import type { ListedTool } from '../core/tools/toolBox';
import { isNode, SessionCommands, type SessionCommandName, type SessionCommandsDeps } from './sessions/sessionCommands';
import { isOfLostRow } from './sessions/tree/isOfLostRow';

export interface CommandRouterDeps {
  /** Where this stands: what the user asks for is done to the chat there. */
  readonly place: ChatPlace;
  readonly places: ChatPlaces;
  readonly models: ModelSource;
  readonly memory: WindowState;
  /** A command has been carried out, or the user has changed their mind. */
  readonly ran: (command: CommandName) => void;
  /** What the settings say, for sessions without a policy of their own. */
  readonly settingOfPolicy: () => string;
  readonly apiKeys: ApiKeyCommandsDeps;
  readonly prices: () => PriceTable;
  readonly log: Log;
  readonly ids: IdSource;
  readonly changes: ChangeDocuments;
  readonly terminals: Pick<TerminalRunner, 'show'>;
  readonly fullQuestions: FullQuestions;
  /** Files of which every change is asked about. */
  readonly editRules: () => EditRules;
  /** Tells, each time it is asked, what a search by meaning cannot find now. */
  readonly meaning: () => Promise<() => string | null>;
  /** The tools of a session without a message, of which these are on; null: the usual ones. */
  readonly newSessionTools: (chosen: readonly string[] | null) => Promise<readonly ListedTool[]>;
  /** Null: a new session. */
  readonly openEditor: (session: string | null) => Promise<void>;
  readonly showBreakdown: () => void;
  readonly showAnalytics: () => void;
  readonly watchAgents: () => Promise<void>;
  readonly sync: Pick<SyncHere, 'all'>;
  /** Other programs that a search has not looked at, in words; null: none. */
  readonly unsearched: () => Promise<string | null>;
  /** Histories of other workspaces, for a search over all. */
  readonly otherHistories: OtherHistories;
  readonly watchOpenClaw: () => Promise<void>;
  readonly agents: {
    readonly folder: () => Promise<string>;
    readonly context: Pick<ExtensionContext, 'extensionPath' | 'globalStorageUri'>;
    readonly servers: Pick<ServerOffer, 'changed'>;
  };
  readonly care: HistoryCommands;
  readonly composer: Pick<ComposerActionsDeps, 'store' | 'counter' | 'workspace' | 'instructions' | 'noteFolders'>;
  readonly transfer: TransferCommands;
  readonly restores: Pick<RestoreCommandsDeps, 'restorer' | 'choice'>;
  readonly reviews: Pick<ReviewCommandsDeps, 'reviewer'> & { readonly open: OpenReview };
  readonly context: Pick<ContextCommandsDeps, 'previews' | 'summaries'>;
  readonly sessions: Pick<SessionCommandsDeps, 'actions' | 'tree' | 'documents' | 'details' | 'cleanUpDays' | 'filterChanged' | 'allShown'>;
  readonly relink: Pick<RelinkDeps, 'candidates' | 'relink'>;
}

/** How long a line stays in the status bar. */
const lineMs = 8_000;
/** Characters; what is longer is cut off there. */
const mostInStatusBar = 64;

/**
 * What the user can ask for, from the palette as well as from the view. Results are told where the user looks: by the view when
 * it is visible, else by one message.
 */
export class CommandRouter implements WorkbenchActions {
  readonly copy = copyText;
  readonly insertCode = insertCode;
  readonly existingFiles = existingFiles;
  readonly openCode = openCode;
  readonly openLink = openLink;
  readonly openSettings = openSettings;
  readonly manageTrust = manageTrust;

  private readonly code: CodeActions;
  readonly applyCode = (text: string, info: string): Promise<void> => this.code.apply(text, info);
  readonly runCode = (text: string, language: string): Promise<void> => this.code.run(text, language);
  readonly branches: BranchCommands;
  readonly restores: RestoreCommands;
  readonly reviews: ReviewCommands;
  readonly composer: ComposerActions;
  private readonly sessionCommands: SessionCommands;
  readonly context: ContextCommands;
  readonly models: ModelCommands;
  readonly approvals: ApprovalCommands;
  /** Every command, as it is run for those who show by themselves what goes wrong: each rejects with the reason. */
  readonly all: AllCommands;
  private readonly controller: ChatController;

  constructor(private readonly deps: CommandRouterDeps) {
    const { controller } = deps.place;
    this.controller = controller;
    this.code = new CodeActions({ workspace: deps.composer.workspace, changes: deps.changes, editRules: deps.editRules });
    this.sessionCommands = new SessionCommands({
      ...deps.sessions,
      controller,
      show: (session, options) => deps.places.show(session, deps.place, options),
      tell: (text) => this.tell(text),
      tellUndoable: (text, undo) => this.tellUndoable(text, undo),
      goTo: (session, entry) => this.goTo(session, entry),
    });
    this.restores = new RestoreCommands({
      ...deps.restores,
      active: controller.active,
      chats: deps.places.chats,
      changes: deps.changes,
      tell: (text) => this.tell(text),
    });
    this.reviews = new ReviewCommands({
      ...deps.reviews,
      active: controller.active,
      chats: deps.places.chats,
      restores: this.restores,
      tell: (text) => this.tell(text),
    });
    this.branches = new BranchCommands({
      active: controller.active,
      switchFiles: (conversation, entry) => this.restores.switchFiles(conversation, entry),
      ids: deps.ids,
      forkAt: (entry, shownIn) => deps.sessions.actions.forkAt(entry, shownIn),
      tell: (text) => this.tell(text),
      now: Date.now,
    });
    this.approvals = new ApprovalCommands({
      active: controller.active,
      openWaiting: () => this.openWaiting('permission'),
      showChange: (call) => this.showDiff(call),
    });
    this.models = new ModelCommands({ ...deps, controller, tell: (text) => this.tell(text) });
    this.context = new ContextCommands({
      ...deps.context,
      store: deps.composer.store,
      changes: deps.changes,
      fullQuestions: deps.fullQuestions,
      controller,
      tell: (text) => this.tell(text),
      tellUndoable: (text, undo) => this.tellUndoable(text, undo),
    });
    this.composer = new ComposerActions({
      ...deps.composer,
      ids: deps.ids,
      memory: deps.memory,
      controller,
      models: deps.models,
      undo: () => this.context.undoCompaction(),
      focusComposer: () => deps.place.focusComposer(),
      reveal: () => this.reveal(),
      run: (name, args) => this.run(name, args),
      pin: (target) => this.context.pinTarget(target),
    });
    const agents = new AgentCommands({
      folder: deps.agents.folder,
      extensionPath: deps.agents.context.extensionPath,
      globalDir: deps.agents.context.globalStorageUri.fsPath,
      sharingChanged: () => deps.agents.servers.changed(),
      changes: deps.changes,
      tell: (text) => this.tell(text),
    });
    const handOver = new HandOverCommand({
      store: deps.composer.store,
      active: controller.active,
      changes: deps.changes,
      ids: deps.ids,
      exportFolder: join(deps.agents.context.globalStorageUri.fsPath, 'handover'),
    });
    this.all = {
      ...this.own,
      ...this.sessionCommands.all,
      ...this.context.all,
      ...this.branches.all,
      ...this.restores.all,
      ...this.reviews.all,
      ...this.composer.all,
      ...deps.care.all,
      ...deps.transfer.all,
      ...agents.all,
      ...deps.sync.all,
      ...handOver.all,
    };
  }

  private readonly own: Omit<
    AllCommands,
    | SessionCommandName
    | ContextCommandName
    | BranchCommandName
    | RestoreCommandName
    | ReviewCommandName
    | ComposerCommandName
    | HistoryCommandsCommandName
    | TransferCommandName
    | AgentCommandName
    | SyncCommandName
    | HandOverCommandName
  > = {
    newSession: () => this.newSession(),
    whyIsThisLineHere: () => whyThisLine({ store: this.deps.composer.store, goTo: (session, entry) => this.goTo(session, entry) }),
    searchHistory: ([typed]) => this.searchHistory(typeof typed === 'string' ? typed : ''),
    relinkHistory: () => this.relinkHistory(),
    declineRelink: () => this.declineRelink(),
    showBreakdown: async () => this.deps.showBreakdown(),
    watchAgents: () => this.deps.watchAgents(),
    watchOpenClaw: () => this.deps.watchOpenClaw(),
    showAnalytics: async () => this.deps.showAnalytics(),
    openInEditor: (args) => this.openInEditor(args),
    askWithoutHistory: ([typed]) =>
      askWithoutHistory(typeof typed === 'string' ? typed : '', { models: this.deps.models, model: this.controller.choices.model }),
    stop: async () => this.controller.active.chat?.stop(),
    answerApproval: () => this.approvals.answerPending(),
    decideWhenFull: () => this.decideWhenFull(),
    selectModel: () => this.models.select(),
    selectPolicy: () => this.selectPolicy(),
    selectTools: () => this.selectTools(),
    setThinkingLevel: () => this.models.setThinkingLevel(),
    setApiKey: () => this.models.setKey(),
    removeApiKey: () => this.models.removeKey(),
    showLog: async () => this.deps.log.show(),
  };

  /** Runs a command; whatever goes wrong is said once. */
  run(name: CommandName, args: readonly unknown[] = []): Promise<void> {
    return this.guarded(name, async () => {
      if (isOfLostRow(name, args)) return this.tell(t('The list was just being updated. Try again.'));
      await this.all[name](args);
      this.deps.ran(name);
    });
  }

  private async guarded(name: CommandName | 'undo', command: () => Promise<void>): Promise<void> {
    try {
      await command();
    } catch (error) {
      this.deps.log.error('command_failed', { command: name, detail: errorText(error) });
      const text = StoreError.is(error) ? storeActionText(error) : shown(errorText(error));
      const show = t('Show Log');
      void window.showErrorMessage(`Threadkeeper: ${text}`, show).then((answer) => answer === show && this.deps.log.show());
    }
  }

  async openNote(path: string): Promise<void> {
    await openNote(path, await this.deps.composer.noteFolders());
  }

  async saveNote(): Promise<void> {
    await saveNote(await this.deps.composer.noteFolders());
  }

  async answerFull(answer: FullAnswer): Promise<void> {
    await answerFull(this.deps.fullQuestions, this.controller.active.session?.uuid, answer);
  }

  private async decideWhenFull(): Promise<void> {
    const { controller } = this;
    const { fullQuestions } = this.deps;
    if (!fullQuestions.pending(controller.active.session?.uuid)) await this.openWaiting('decision');
    const question = fullQuestions.pending(controller.active.session?.uuid);
    if (!question) throw new Error(t('Nothing waits for this decision any more.'));
    const answer = await pickFullAnswer(question);
    if (answer) await answerFull(fullQuestions, question.session, answer);
  }

  /** Goes to the session, left while it was answering, that waits for the user; stays where there is none. */
  private async openWaiting(what: WaitingSession['for']): Promise<void> {
    const waiting = this.controller.state.waiting.find((one) => one.for === what);
    if (waiting) await this.openSession(waiting.session.uuid);
  }

  /** The whole file while the call waits for its answer, and the whole note where it still tells; later the part that the call names. */
  async showDiff(call: string): Promise<void> {
    const { controller } = this;
    const { changes } = this.deps;
    const pending = (await controller.active.conversation())?.approvals.pending.find((one) => one.call === call);
    const [entry] = pending ? [] : await (await this.deps.composer.store()).entries([call]);
    const change = pending ? pending.question.change : entry?.content.type === 'tool_call' ? callChange(entry.content) : null;
    if (!change) throw new Error(t('There is no change to show.'));
    const whole = entry && isMemoryWrite(entry) ? await this.wholeNote(change) : null;
    await changes.show(whole ?? change);
  }

  showTerminal(call: string): void {
    if (!this.deps.terminals.show(call)) throw new Error(t('This command runs in the background: its output is shown here.'));
  }

  async showAside(entry: string): Promise<void> {
    const [found] = await (await this.deps.composer.store()).entries([entry]);
    if (found?.content.type !== 'side_question') throw new Error(t('This side question is not there any more.'));
    await this.deps.changes.read(`${t('Side question')}.md`, found.content.text);
  }

  private async wholeNote(change: FileChange): Promise<FileChange | null> {
    const now = await readNote(change.path, await this.deps.composer.noteFolders()).catch(() => undefined);
    return now === undefined ? null : wholeNoteChange(change, now);
  }

  private async selectTools(): Promise<void> {
    const { active, choices } = this.controller;
    const toolBox = (await active.conversation())?.toolBox;
    const picked = await pickTools(toolBox ? toolBox.list() : await this.deps.newSessionTools(choices.toolsOfNewSession));
    if (picked && toolBox) await toolBox.choose(picked);
    else if (picked) choices.setToolsOfNewSession(picked);
  }

  private async selectPolicy(): Promise<void> {
    const { controller } = this;
    const { settingOfPolicy } = this.deps;
    await controller.active.open();
    const picked = await pickPolicy({ current: controller.choices.policy, setting: settingOfPolicy() });
    if (!picked) return;
    const { preset, scope } = picked;
    if (scope === 'session') {
      await controller.choices.setPolicy(preset === null ? null : { preset });
      if (controller.choices.areForNewSession)
        this.tell(t('The new session uses the policy {0}.', policyName(preset ?? settingOfPolicy())));
      return;
    }
    await savePolicySetting(preset);
  }

  private async newSession(): Promise<void> {
    await this.controller.active.newSession();
    await this.reveal();
    this.deps.place.focusComposer();
  }

  private async searchHistory(typed: string): Promise<void> {
    await this.controller.active.open();
    const store = await this.deps.composer.store();
    const picked = await pickFromHistory({
      search: (text) => searchTyped(store, text),
      others: this.deps.otherHistories,
      initial: typed,
      meaning: await this.deps.meaning(),
      unsearched: await this.deps.unsearched(),
    });
    if (picked?.workspace) await this.deps.sessions.documents.openEntry(picked.session, picked.entry, picked.workspace);
    else if (picked) await this.goTo(picked.session, picked.entry);
  }

  async openSession(uuid: string): Promise<void> {
    await this.deps.places.show(uuid, this.deps.place);
  }

  /** A row of the Sessions view, else the session here; a new one where there is none, or where it is in an editor already. */
  private async openInEditor([node]: readonly unknown[]): Promise<void> {
    const { place, places, openEditor } = this.deps;
    const row = isNode(node) && node.kind === 'session' && node.other === null ? node.session.uuid : null;
    const own = place === places.sideBar ? (this.controller.active.session?.uuid ?? null) : null;
    await openEditor(row ?? own);
  }

  private reveal(): Promise<void> {
    return this.deps.place.reveal({ preserveFocus: false });
  }

  /** In a chat, or in an editor when the transcript does not show the entry. */
  async goTo(session: string, entry: string): Promise<void> {
    const { places, place } = this.deps;
    const at = places.of(session) ?? place;
    await at.reveal({ preserveFocus: false });
    if (await at.controller.active.reveal(session, entry)) return;
    const [found] = await (await this.deps.composer.store()).entries([entry]);
    if (!found) return;
    await showEntry(found);
    void window.showInformationMessage(
      t(
        'Threadkeeper: what you picked is not part of the conversation as it stands now (another branch, or a detail the transcript does not show). Its text is open beside the conversation.',
      ),
    );
  }

  private async relinkHistory(): Promise<void> {
    const { places, memory, relink } = this.deps;
    await relinkHistory({
      ...relink,
      close: () => places.close(),
      forgetLastSession: () => memory.forgetLast(),
      now: Date.now,
      tell: (text) => this.tell(text),
    });
  }

  private async declineRelink(): Promise<void> {
    await this.deps.memory.setRelinkDeclined();
    await this.deps.sessions.tree.reload();
  }

  private tellUndoable(text: string, undo: () => Promise<void>): void {
    const button = t('Undo');
    void window.showInformationMessage(text, button).then((answer) => (answer === button ? this.guarded('undo', undo) : undefined));
  }

  /** A line in the status bar beside an open view, else a message. */
  private tell(text: string): void {
    if (this.controller.feed.visible && text.length <= mostInStatusBar) window.setStatusBarMessage(`$(info) Threadkeeper: ${text}`, lineMs);
    else void window.showInformationMessage(text);
  }
}
