import type { PolicyKnobName } from '../core/context/policy/policyKnobs';

/**
 * Every id that the manifest and the code share, typed once; test/unit/manifest.test.ts holds package.json against it in both
 * directions.
 */
export const extensionId = 'threadkeeper.threadkeeper';
export const category = 'Threadkeeper';
export const viewContainerId = 'threadkeeper';
export const chatViewId = 'threadkeeper.chat';
export const sessionsViewId = 'threadkeeper.sessions';
/** VS Code makes these for the views. */
export const focusChatCommand = `${chatViewId}.focus`;
export const focusSessionsCommand = `${sessionsViewId}.focus`;
export const breakdownPanelType = 'threadkeeper.breakdown';
export const analyticsPanelType = 'threadkeeper.analytics';
export const statusItemId = 'context';
export const walkthroughId = 'start';
/** Of the document that shows what a compaction would do, and of the one in which a summary is edited. */
export const previewScheme = 'threadkeeper-preview';
export const summaryScheme = 'threadkeeper-summary';
/** Of the document in which the details of a session are edited. */
export const detailsScheme = 'threadkeeper-details';
/** What other agents of VS Code may call. */
export const sharedToolPrefix = 'threadkeeper_';
export const sharedToolNames = { recall: 'threadkeeper_recall', search: 'threadkeeper_searchSessions', notes: 'threadkeeper_notes' } as const;
/** Of the two sides of what a tool changes. */
export const changeScheme = 'threadkeeper-change';

export const commandIds = {
  newSession: 'threadkeeper.newSession',
  switchSession: 'threadkeeper.switchSession',
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
  relinkHistory: 'threadkeeper.relinkHistory',
  declineRelink: 'threadkeeper.declineRelink',
  openWorkspace: 'threadkeeper.openWorkspace',
  filterSessions: 'threadkeeper.filterSessions',
  clearSessionFilter: 'threadkeeper.clearSessionFilter',
  refreshSessions: 'threadkeeper.refreshSessions',
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
  setThinkingLevel: 'threadkeeper.setThinkingLevel',
  setApiKey: 'threadkeeper.setApiKey',
  removeApiKey: 'threadkeeper.removeApiKey',
  watchOpenClaw: 'threadkeeper.watchOpenClaw',
  verifyHistory: 'threadkeeper.verifyHistory',
  exportSession: 'threadkeeper.exportSession',
  exportHistory: 'threadkeeper.exportHistory',
  importSessions: 'threadkeeper.importSessions',
  backUpHistory: 'threadkeeper.backUpHistory',
  restoreHistory: 'threadkeeper.restoreHistory',
  addSelection: 'threadkeeper.addSelection',
  addFile: 'threadkeeper.addFile',
  openMemoryNotes: 'threadkeeper.openMemoryNotes',
  askWithoutHistory: 'threadkeeper.askWithoutHistory',
  showLog: 'threadkeeper.showLog',
} as const;
export type CommandName = keyof typeof commandIds;

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
  /** Something is in the trash. */
  hasTrash: 'threadkeeper.hasTrash',
  /** The history could not be read for the Sessions view. */
  sessionsUnread: 'threadkeeper.sessionsUnread',
  /** Another workspace's history is likely to be that of this one, which has none. */
  relinkOffered: 'threadkeeper.relinkOffered',
  /** A key is kept in the secret storage. */
  hasStoredKey: 'threadkeeper.hasStoredKey',
} as const;
export type ContextKey = keyof typeof contextKeys;

/** Commands that can be dead, and what has to hold for them. */
export const enablement: Partial<Record<CommandName, string>> = {
  switchSession: contextKeys.hasSession,
  searchHistory: contextKeys.hasSession,
  renameSession: contextKeys.hasSession,
  editTags: contextKeys.hasSession,
  editSessionDetails: contextKeys.hasSession,
  sortSessions: contextKeys.hasSession,
  cleanUpSessions: contextKeys.hasSession,
  archiveSession: contextKeys.hasSession,
  trashSession: contextKeys.hasSession,
  forkSession: contextKeys.hasSession,
  switchBranch: `${contextKeys.hasSession} && !${contextKeys.busy}`,
  emptyTrash: `${contextKeys.hasSession} || ${contextKeys.hasTrash}`,
  filterSessions: contextKeys.hasSession,
  clearSessionFilter: contextKeys.sessionsFiltered,
  addSelection: 'editorHasSelection',
  compact: `${contextKeys.hasSession} && !${contextKeys.compacting}`,
  compactWithInstructions: `${contextKeys.hasSession} && !${contextKeys.compacting}`,
  previewCompaction: `${contextKeys.hasSession} && !${contextKeys.compacting}`,
  applyPreview: `resourceScheme == ${previewScheme}`,
  closePreview: `resourceScheme == ${previewScheme}`,
  editSummary: `${contextKeys.canUndo} && !${contextKeys.compacting}`,
  compareCompaction: contextKeys.hasSession,
  excludeEntry: `${contextKeys.hasSession} && !${contextKeys.busy}`,
  includeEntry: `${contextKeys.hasSession} && !${contextKeys.busy}`,
  resummarize: `${contextKeys.canUndo} && !${contextKeys.compacting}`,
  createCheckpoint: contextKeys.hasSession,
  selectTools: contextKeys.hasSession,
  pin: contextKeys.hasSession,
  unpin: contextKeys.hasSession,
  showBreakdown: contextKeys.hasSession,
  showAnalytics: contextKeys.hasSession,
  cancelCompaction: contextKeys.compacting,
  undoCompaction: `${contextKeys.canUndo} && !${contextKeys.compacting}`,
  stop: contextKeys.busy,
  answerApproval: contextKeys.asking,
  decideWhenFull: contextKeys.contextFull,
  removeApiKey: contextKeys.hasStoredKey,
  exportSession: contextKeys.hasSession,
  exportHistory: contextKeys.hasSession,
  backUpHistory: contextKeys.hasSession,
};

/** Commands that need to be told what for: the tree calls them, the palette does not offer them. */
export const onlyInTree = ['openSession', 'pinSession', 'unpinSession', 'unarchiveSession', 'restoreSession', 'deleteSession', 'copySessionId', 'showMoreSessions', 'openWorkspace', 'declineRelink'] as const satisfies readonly CommandName[];

/** What a key of the Sessions view passes: the rows that are selected. */
export const selectionArgument = 'selection';

export const settingsPrefix = 'threadkeeper';

type Scope = 'application' | 'machine' | 'window';

const ofWindow = { scope: 'window', restricted: false } as const;
/** What opens a boundary, costs money or deletes: the user's own settings alone say it, never those of a workspace. */
const ofUser = { scope: 'application', restricted: true } as const;

/** Setting keys below `threadkeeper.` with their defaults; `restricted` ones are ignored in a workspace that is not trusted. */
export const settings = {
  baseUrl: { key: 'anthropic.baseUrl', default: '', scope: 'machine', restricted: true },
  openaiUrl: { key: 'openaiCompatible.baseUrl', default: '', scope: 'machine', restricted: true },
  openaiApi: { key: 'openaiCompatible.api', default: 'chat-completions', scope: 'machine', restricted: true },
  openaiContext: { key: 'openaiCompatible.contextTokens', default: 0, scope: 'machine', restricted: true },
  ollamaUrl: { key: 'ollama.baseUrl', default: '', scope: 'machine', restricted: true },
  ollamaContext: { key: 'ollama.contextTokens', default: 0, scope: 'machine', restricted: true },
  prices: { key: 'prices', default: {}, scope: 'machine', restricted: true },
  dailyBudget: { key: 'budget.perDay', default: 0, scope: 'machine', restricted: true },
  model: { key: 'model', default: '', ...ofUser },
  instructions: { key: 'instructions', default: '', ...ofUser },
  instructionFiles: { key: 'instructionFiles', default: false, ...ofUser },
  skills: { key: 'skills.workspace', default: false, ...ofUser },
  // A workspace that could name folders would have files read from anywhere.
  skillFolders: { key: 'skills.folders', default: ['~/.threadkeeper/skills', '.threadkeeper/skills', '.github/skills', '.claude/skills', '.agents/skills'], scope: 'machine', restricted: true },
  approval: { key: 'tools.approval', default: 'allowReads', ...ofUser },
  /** The manifest shows the built-in list (`defaultEditRules`), which a window that only starts does not load. */
  editRules: { key: 'tools.autoApproveEdits', default: {}, ...ofUser },
  passVariables: { key: 'tools.passVariables', default: [], scope: 'machine', restricted: true },
  withholdVariables: { key: 'tools.withholdVariables', default: [], scope: 'machine', restricted: true },
  maxRounds: { key: 'tools.maxRounds', default: 50, ...ofUser },
  policy: { key: 'context.policy', default: 'balanced', scope: 'window', restricted: false },
  openClawInherit: { key: 'openclaw.inherit', default: false, scope: 'window', restricted: true },
  openClawPath: { key: 'openclaw.path', default: '', scope: 'machine', restricted: true },
  openClawSessionKey: { key: 'openclaw.sessionKey', default: '', scope: 'window', restricted: true },
  openClawTwoWay: { key: 'openclaw.twoWay', default: false, scope: 'machine', restricted: true },
  trashDays: { key: 'history.trashDays', default: 0, ...ofUser },
  cleanUpDays: { key: 'history.cleanUpDays', default: 0, scope: 'machine', restricted: true },
  offerBranchSummary: { key: 'history.offerBranchSummary', default: true, scope: 'window', restricted: false },
  statusBarVisible: { key: 'statusBar.visible', default: true, scope: 'window', restricted: false },
} as const satisfies Readonly<Record<string, { key: string; default: unknown; scope: Scope; restricted: boolean }>>;
export type SettingName = keyof typeof settings;

/** One setting for each knob of a policy, under the knob's own name, with the value of `balanced`. */
export const policySettings: Readonly<Record<PolicyKnobName, { readonly default: unknown; readonly scope: Scope; readonly restricted: boolean }>> = {
  'context.maxTokens': { default: 200_000, ...ofWindow },
  'context.outputTokens': { default: 0, ...ofWindow },
  'context.safetyTokens': { default: 2_000, ...ofWindow },
  'context.showUsageToModel': { default: false, ...ofWindow },
  'memoryFlush.enabled': { default: true, ...ofWindow },
  'memoryFlush.thresholds': { default: [50, 75], ...ofWindow },
  'checkpoint.enabled': { default: true, ...ofWindow },
  'checkpoint.thresholds': { default: [25, 50, 75], ...ofWindow },
  'checkpoint.everyUserTurns': { default: 10, ...ofWindow },
  'checkpoint.minTokens': { default: 5_000, ...ofWindow },
  'compaction.automatic': { default: true, ...ofWindow },
  'compaction.triggerPercent': { default: 85, ...ofWindow },
  'compaction.triggerReserveTokens': { default: 0, ...ofWindow },
  'compaction.triggerMessages': { default: 0, ...ofWindow },
  'compaction.triggerTokens': { default: 0, ...ofWindow },
  'compaction.afterResponse': { default: false, ...ofWindow },
  'compaction.prepareAtPercent': { default: 78, ...ofWindow },
  'compaction.maskToolResults': { default: true, ...ofWindow },
  'compaction.whenFull': { default: 'summarize', ...ofWindow },
  'compaction.whenFails': { default: 'extract', ...ofWindow },
  'compaction.review': { default: 'manual', ...ofWindow },
  'compaction.keep': { default: { userTurns: 2, tokens: { percent: 25, min: 2_000, max: 20_000 } }, ...ofWindow },
  'compaction.format': { default: 'session-state', ...ofWindow },
  'compaction.maxSummaryTokens': { default: 4_000, ...ofWindow },
  'compaction.placement': { default: 'history-pair', ...ofWindow },
  'compaction.preferCheckpoint': { default: true, ...ofWindow },
  'compaction.minCheckpointCoverage': { default: 50, ...ofWindow },
  'compaction.hardLimitPercent': { default: 97, ...ofWindow },
  'compaction.emergencyKeepPercent': { default: 0, ...ofWindow },
  'compaction.retryOnOverflow': { default: true, ...ofWindow },
  'compaction.oversizedMessagePercent': { default: 25, ...ofWindow },
  // Addresses that a conversation is sent to: never from a workspace.
  'summarizer.chain': { default: [{ provider: 'session', model: 'session' }], scope: 'machine', restricted: true },
  'summarizer.failureThreshold': { default: 3, ...ofWindow },
  'summarizer.resetMinutes': { default: 30, ...ofWindow },
  'summarizer.retryIntervalSeconds': { default: 60, ...ofWindow },
};

/** Every setting by its key below `threadkeeper.`. */
export const allSettings: Readonly<Record<string, { readonly default: unknown; readonly scope: Scope; readonly restricted: boolean }>> = {
  ...Object.fromEntries(Object.values(settings).map((setting) => [setting.key, setting])),
  ...policySettings,
};

export function settingKey(name: SettingName): string {
  return `${settingsPrefix}.${settings[name].key}`;
}
