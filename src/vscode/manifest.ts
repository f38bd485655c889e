/**
 * This file has every id that package.json and the code share, typed once; test/unit/manifest.test.ts compares the two in both
 * directions. It is loaded when a window starts, so it imports nothing.
 */
export const extensionId = 'threadkeeper.threadkeeper';
export const chatViewId = 'threadkeeper.chat';
export const sessionsViewId = 'threadkeeper.sessions';
/** VS Code makes these for the views. */
export const focusChatCommand = `${chatViewId}.focus`;
export const focusSessionsCommand = `${sessionsViewId}.focus`;
/** A chat in an editor. */
export const chatEditorType = 'threadkeeper.chatEditor';
/** A row of the Sessions view that is dragged into the editor area has this scheme, and is opened there by this. */
export const sessionScheme = 'threadkeeper-session';
export const droppedSessionType = 'threadkeeper.droppedSession';
export const breakdownPanelType = 'threadkeeper.breakdown';
export const analyticsPanelType = 'threadkeeper.analytics';
export const statusItemId = 'context';
/** The document that shows what a compaction would do has this scheme. */
export const previewScheme = 'threadkeeper-preview';
/** The document in which a summary is edited has this scheme. */
export const summaryScheme = 'threadkeeper-summary';
/** The document in which the details of a session are edited has this scheme. */
export const detailsScheme = 'threadkeeper-details';
/** Other agents of VS Code may call the tools with these names. */
export const sharedToolPrefix = 'threadkeeper_';
export const sharedToolNames = {
  recall: 'threadkeeper_recall',
  search: 'threadkeeper_searchSessions',
  notes: 'threadkeeper_notes',
} as const;
/** Both sides of what a tool changes have this scheme. */
export const changeScheme = 'threadkeeper-change';

/** Our server for agents in the editor has this id. */
export const mcpProviderId = 'threadkeeper.history';
/** A link that opens a session has this path, and its uuid behind it. */
export const sessionLinkPath = '/session/';

export const commandIds = {
  newSession: 'threadkeeper.newSession',
  openInEditor: 'threadkeeper.openInEditor',
  switchSession: 'threadkeeper.switchSession',
  nextSession: 'threadkeeper.nextSession',
  previousSession: 'threadkeeper.previousSession',
  searchHistory: 'threadkeeper.searchHistory',
  renameSession: 'threadkeeper.renameSession',
  editTags: 'threadkeeper.editTags',
  editSessionDetails: 'threadkeeper.editSessionDetails',
  openSessionByKey: 'threadkeeper.openSessionByKey',
  sortSessions: 'threadkeeper.sortSessions',
  cleanUpSessions: 'threadkeeper.cleanUpSessions',
  archiveSession: 'threadkeeper.archiveSession',
  trashSession: 'threadkeeper.trashSession',
  forkSession: 'threadkeeper.forkSession',
  switchBranch: 'threadkeeper.switchBranch',
  restoreFromMessage: 'threadkeeper.restoreFromMessage',
  undoRestore: 'threadkeeper.undoRestore',
  reviewChanges: 'threadkeeper.reviewChanges',
  decideChanges: 'threadkeeper.decideChanges',
  keepChange: 'threadkeeper.keepChange',
  undoChange: 'threadkeeper.undoChange',
  keepFile: 'threadkeeper.keepFile',
  undoFile: 'threadkeeper.undoFile',
  keepAllChanges: 'threadkeeper.keepAllChanges',
  undoAllChanges: 'threadkeeper.undoAllChanges',
  relinkHistory: 'threadkeeper.relinkHistory',
  declineRelink: 'threadkeeper.declineRelink',
  openWorkspace: 'threadkeeper.openWorkspace',
  filterSessions: 'threadkeeper.filterSessions',
  clearSessionFilter: 'threadkeeper.clearSessionFilter',
  refreshSessions: 'threadkeeper.refreshSessions',
  showAllWorkspaces: 'threadkeeper.showAllWorkspaces',
  showThisWorkspace: 'threadkeeper.showThisWorkspace',
  openSession: 'threadkeeper.openSession',
  pinSession: 'threadkeeper.pinSession',
  unpinSession: 'threadkeeper.unpinSession',
  unarchiveSession: 'threadkeeper.unarchiveSession',
  restoreSession: 'threadkeeper.restoreSession',
  deleteSession: 'threadkeeper.deleteSession',
  emptyTrash: 'threadkeeper.emptyTrash',
  copySessionId: 'threadkeeper.copySessionId',
  showMoreSessions: 'threadkeeper.showMoreSessions',
  compact: 'threadkeeper.compact',
  compactWithInstructions: 'threadkeeper.compactWithInstructions',
  previewCompaction: 'threadkeeper.previewCompaction',
  applyPreview: 'threadkeeper.applyPreview',
  closePreview: 'threadkeeper.closePreview',
  editSummary: 'threadkeeper.editSummary',
  resummarize: 'threadkeeper.resummarize',
  compareCompaction: 'threadkeeper.compareCompaction',
  excludeEntry: 'threadkeeper.excludeEntry',
  includeEntry: 'threadkeeper.includeEntry',
  createCheckpoint: 'threadkeeper.createCheckpoint',
  pin: 'threadkeeper.pin',
  unpin: 'threadkeeper.unpin',
  showBreakdown: 'threadkeeper.showBreakdown',
  showAnalytics: 'threadkeeper.showAnalytics',
  cancelCompaction: 'threadkeeper.cancelCompaction',
  undoCompaction: 'threadkeeper.undoCompaction',
  stop: 'threadkeeper.stop',
  answerApproval: 'threadkeeper.answerApproval',
  decideWhenFull: 'threadkeeper.decideWhenFull',
  selectModel: 'threadkeeper.selectModel',
  selectPolicy: 'threadkeeper.selectPolicy',
  selectTools: 'threadkeeper.selectTools',
  togglePlanMode: 'threadkeeper.togglePlanMode',
  setThinkingLevel: 'threadkeeper.setThinkingLevel',
  setApiKey: 'threadkeeper.setApiKey',
  removeApiKey: 'threadkeeper.removeApiKey',
  watchAgents: 'threadkeeper.watchAgents',
  watchOpenClaw: 'threadkeeper.watchOpenClaw',
  shareHistory: 'threadkeeper.shareHistory',
  connectAgent: 'threadkeeper.connectAgent',
  disconnectAgent: 'threadkeeper.disconnectAgent',
  setUpSync: 'threadkeeper.setUpSync',
  syncNow: 'threadkeeper.syncNow',
  syncStatus: 'threadkeeper.syncStatus',
  addSyncDevice: 'threadkeeper.addSyncDevice',
  leaveSync: 'threadkeeper.leaveSync',
  verifyHistory: 'threadkeeper.verifyHistory',
  handOver: 'threadkeeper.handOver',
  exportSession: 'threadkeeper.exportSession',
  exportHistory: 'threadkeeper.exportHistory',
  importSessions: 'threadkeeper.importSessions',
  backUpHistory: 'threadkeeper.backUpHistory',
  restoreHistory: 'threadkeeper.restoreHistory',
  addSelection: 'threadkeeper.addSelection',
  addFile: 'threadkeeper.addFile',
  whyIsThisLineHere: 'threadkeeper.whyIsThisLineHere',
  openMemoryNotes: 'threadkeeper.openMemoryNotes',
  askWithoutHistory: 'threadkeeper.askWithoutHistory',
  showLog: 'threadkeeper.showLog',
} as const;
export type CommandName = keyof typeof commandIds;
/** What each command does with its arguments; rejects with what goes wrong. */
export type AllCommands = Readonly<Record<CommandName, (args: readonly unknown[]) => Promise<void>>>;

export const contextKeys = {
  /** A session exists in this workspace. */
  hasSession: 'threadkeeper.hasSession',
  /** The open session has a compaction that can be taken back. */
  canUndo: 'threadkeeper.canUndo',
  /** A turn runs. */
  busy: 'threadkeeper.busy',
  compacting: 'threadkeeper.compacting',
  /** A call waits for the user's permission, in the open session or in one that was left. */
  asking: 'threadkeeper.asking',
  /** A turn waits for the user's decision about a full context, in the open session or in one that was left. */
  contextFull: 'threadkeeper.contextFull',
  /** The Sessions view shows only what matches some words. */
  sessionsFiltered: 'threadkeeper.sessionsFiltered',
  /** It lists the sessions of all workspaces. */
  allWorkspaces: 'threadkeeper.allWorkspaces',
  /** Something is in the trash. */
  hasTrash: 'threadkeeper.hasTrash',
  /** The history could not be read for the Sessions view. */
  sessionsUnread: 'threadkeeper.sessionsUnread',
  /** Another workspace's history is likely to be that of this one, which has none. */
  relinkOffered: 'threadkeeper.relinkOffered',
  /** The editor in front shows what an answer has changed. */
  reviewing: 'threadkeeper.reviewing',
  /** A key is kept in the secret storage. */
  hasStoredKey: 'threadkeeper.hasStoredKey',
  /** This workspace is synchronized. */
  syncOn: 'threadkeeper.syncOn',
  /** Steps of the walkthrough that are done, in this window or before. */
  chatDone: 'threadkeeper.done.chat',
  modelDone: 'threadkeeper.done.model',
  gaugeDone: 'threadkeeper.done.gauge',
  compactDone: 'threadkeeper.done.compact',
  importDone: 'threadkeeper.done.import',
  agentsDone: 'threadkeeper.done.agents',
} as const;
export type ContextKey = keyof typeof contextKeys;

export const walkthroughSteps = ['chat', 'model', 'gauge', 'compact', 'import', 'agents'] as const;
export type WalkthroughStep = (typeof walkthroughSteps)[number];

/** A key of the Sessions view passes this: it stands for the rows that are selected. */
export const selectionArgument = 'selection';

export const settingsPrefix = 'threadkeeper';
