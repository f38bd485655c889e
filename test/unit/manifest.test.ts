import { settingKey, settingNames } from '../../src/vscode/settingsValues';
import { deepStrictEqual, ok } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultEditRules } from '../../src/core/tools/guard/guardedKinds';
import { policyKnobs } from '../../src/core/context/policy/policyKnobs';
import { presets, resolvePolicy } from '../../src/core/context/policy/resolvePolicy';
import {
  chatEditorType,
  chatViewId,
  commandIds,
  contextKeys,
  detailsScheme,
  extensionId,
  focusChatCommand,
  previewScheme,
  selectionArgument,
  sessionsViewId,
  sharedToolNames,
  summaryScheme,
  type CommandName,
} from '../../src/vscode/manifest';
import { projectRoot } from '../support/paths';

interface Command {
  command: string;
  title: string;
  category?: string;
  enablement?: string;
}

interface Property {
  default: unknown;
  scope: string;
  order: number;
  markdownDescription: string;
  tags?: readonly string[];
  enum?: string[];
}

interface Manifest {
  name: string;
  publisher: string;
  icon: string;
  engines: { vscode: string };
  categories: string[];
  activationEvents: string[];
  capabilities: {
    untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] };
    virtualWorkspaces: { supported: string };
  };
  contributes: {
    languages: unknown;
    configurationDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    commands: Command[];
    configuration: { properties: Record<string, Property> }[];
    views: Record<string, { id: string; type?: string; icon: string }[]>;
    viewsContainers: { activitybar: { id: string; title: string; icon: string }[] };
    menus: Record<string, { command: string; when?: string }[]>;
    walkthroughs?: { id: string; steps: { id: string; media: { svg?: string; markdown?: string }; completionEvents: string[] }[] }[];
    keybindings: { command: string; key: string; mac?: string; args: unknown; when?: string }[];
    languageModelTools: { name: string }[];
    viewsWelcome: { view: string; contents: string; when?: string }[];
  };
}

const text = readFileSync(join(projectRoot, 'package.json'), 'utf8');
const manifest = JSON.parse(text) as Manifest;
const strings = JSON.parse(readFileSync(join(projectRoot, 'package.nls.json'), 'utf8')) as Record<string, string>;
const commandNames = Object.keys(commandIds) as CommandName[];
const properties: Record<string, Property> = Object.assign({}, ...manifest.contributes.configuration.map((section) => section.properties));

const { hasSession, canUndo, busy, compacting } = contextKeys;
/** These commands can be dead: they are offered only where the clause holds. */
const enablement: Readonly<Record<string, readonly CommandName[]>> = {
  [hasSession]: [
    ...([
      'switchSession',
      'nextSession',
      'previousSession',
      'searchHistory',
      'renameSession',
      'editTags',
      'editSessionDetails',
      'sortSessions',
      'cleanUpSessions',
    ] as const),
    ...(['archiveSession', 'trashSession', 'forkSession', 'filterSessions', 'compareCompaction', 'createCheckpoint'] as const),
    ...(['pin', 'unpin', 'showBreakdown', 'showAnalytics', 'exportSession', 'exportHistory', 'backUpHistory'] as const),
  ],
  [`${hasSession} && isWorkspaceTrusted`]: ['handOver'],
  [`${hasSession} && !${busy}`]: ['switchBranch', 'restoreFromMessage', 'undoRestore', 'reviewChanges', 'excludeEntry', 'includeEntry'],
  [`${hasSession} && !${compacting}`]: ['compact', 'compactWithInstructions', 'previewCompaction'],
  [`${hasSession} || ${contextKeys.hasTrash}`]: ['emptyTrash'],
  [`${canUndo} && !${compacting}`]: ['editSummary', 'resummarize', 'undoCompaction'],
  [`resourceScheme == ${previewScheme}`]: ['applyPreview', 'closePreview'],
  [`${contextKeys.reviewing} && !${busy}`]: [
    ...(['decideChanges', 'keepChange', 'undoChange', 'keepFile', 'undoFile', 'keepAllChanges', 'undoAllChanges'] as const),
  ],
  [contextKeys.sessionsFiltered]: ['clearSessionFilter'],
  [contextKeys.allWorkspaces]: ['showThisWorkspace'],
  isWorkspaceTrusted: ['shareHistory', 'connectAgent', 'disconnectAgent', 'whyIsThisLineHere', 'setUpSync'],
  editorHasSelection: ['addSelection'],
  [compacting]: ['cancelCompaction'],
  [busy]: ['stop'],
  [contextKeys.asking]: ['answerApproval'],
  [contextKeys.contextFull]: ['decideWhenFull'],
  [contextKeys.hasStoredKey]: ['removeApiKey'],
  [contextKeys.syncOn]: ['syncNow', 'syncStatus', 'addSyncDevice', 'leaveSync'],
};

/** The tree tells these commands what for, so the palette does not offer them. */
const onlyInTree: readonly CommandName[] = [
  ...(['openSession', 'pinSession', 'unpinSession', 'unarchiveSession', 'restoreSession', 'deleteSession', 'copySessionId'] as const),
  ...(['showMoreSessions', 'openWorkspace', 'declineRelink'] as const),
];

function localized(value: string): string {
  return value.replace(/^%(.+)%$/, (_, key: string) => strings[key] ?? `missing: ${key}`);
}

describe('manifest', () => {
  it('keeps auto-save away from summaries, of which every save is a version', () => {
    const { languages, configurationDefaults } = manifest.contributes;
    deepStrictEqual(languages, [{ id: summaryScheme, aliases: ['Threadkeeper summary'], filenamePatterns: [`**/${summaryScheme}/*.md`] }]);
    deepStrictEqual(configurationDefaults[`[${summaryScheme}]`]?.['files.autoSave'], 'off');
  });

  it('contributes exactly the commands that the code declares', () => {
    deepStrictEqual(manifest.contributes.commands.map(({ command }) => command).sort(), Object.values(commandIds).sort());
  });

  it("offers the commands under the extension's name, with the titles that are promised", () => {
    const titles = Object.fromEntries(
      manifest.contributes.commands.map((command) => [command.command, `${command.category}: ${localized(command.title)}`]),
    );
    deepStrictEqual(titles, {
      [commandIds.newSession]: 'Threadkeeper: New Session',
      [commandIds.openInEditor]: 'Threadkeeper: Open Chat in Editor',
      [commandIds.switchSession]: 'Threadkeeper: Switch Session…',
      [commandIds.nextSession]: 'Threadkeeper: Next Session',
      [commandIds.previousSession]: 'Threadkeeper: Previous Session',
      [commandIds.searchHistory]: 'Threadkeeper: Search History…',
      [commandIds.renameSession]: 'Threadkeeper: Rename Session…',
      [commandIds.editTags]: 'Threadkeeper: Edit Tags…',
      [commandIds.editSessionDetails]: 'Threadkeeper: Edit Session Details…',
      [commandIds.openSessionByKey]: 'Threadkeeper: Open Session by Key…',
      [commandIds.sortSessions]: 'Threadkeeper: Sort Sessions…',
      [commandIds.cleanUpSessions]: 'Threadkeeper: Clean Up Sessions…',
      [commandIds.archiveSession]: 'Threadkeeper: Archive Session',
      [commandIds.trashSession]: 'Threadkeeper: Move Session to Trash',
      [commandIds.forkSession]: 'Threadkeeper: Fork Session Here',
      [commandIds.switchBranch]: 'Threadkeeper: Switch Branch…',
      [commandIds.restoreFromMessage]: 'Threadkeeper: Restore Files and Conversation…',
      [commandIds.undoRestore]: 'Threadkeeper: Undo Last Restore of Files',
      [commandIds.reviewChanges]: 'Threadkeeper: Review What the Answer Changed',
      [commandIds.decideChanges]: 'Threadkeeper: Keep or Undo Changes…',
      [commandIds.keepChange]: 'Threadkeeper: Keep Change',
      [commandIds.undoChange]: 'Threadkeeper: Undo Change',
      [commandIds.keepFile]: 'Threadkeeper: Keep Changes of File',
      [commandIds.undoFile]: 'Threadkeeper: Undo Changes of File',
      [commandIds.keepAllChanges]: 'Threadkeeper: Keep All Changes',
      [commandIds.undoAllChanges]: 'Threadkeeper: Undo All Changes',
      [commandIds.relinkHistory]: 'Threadkeeper: Relink History…',
      [commandIds.declineRelink]: 'Threadkeeper: Do Not Relink History',
      [commandIds.openWorkspace]: 'Threadkeeper: Open That Workspace in a New Window',
      [commandIds.filterSessions]: 'Threadkeeper: Filter Sessions…',
      [commandIds.clearSessionFilter]: 'Threadkeeper: Clear Session Filter',
      [commandIds.refreshSessions]: 'Threadkeeper: Refresh Sessions',
      [commandIds.showAllWorkspaces]: 'Threadkeeper: Show Sessions of All Workspaces',
      [commandIds.showThisWorkspace]: 'Threadkeeper: Show Sessions of This Workspace',
      [commandIds.openSession]: 'Threadkeeper: Open Session',
      [commandIds.pinSession]: 'Threadkeeper: Pin to Top',
      [commandIds.unpinSession]: 'Threadkeeper: Unpin',
      [commandIds.unarchiveSession]: 'Threadkeeper: Move out of Archive',
      [commandIds.restoreSession]: 'Threadkeeper: Restore from Trash',
      [commandIds.deleteSession]: 'Threadkeeper: Delete Permanently…',
      [commandIds.emptyTrash]: 'Threadkeeper: Empty Trash…',
      [commandIds.copySessionId]: 'Threadkeeper: Copy Session Id',
      [commandIds.showMoreSessions]: 'Threadkeeper: Show More Sessions',
      [commandIds.compact]: 'Threadkeeper: Compact Conversation',
      [commandIds.compactWithInstructions]: 'Threadkeeper: Compact Conversation with Instructions…',
      [commandIds.previewCompaction]: 'Threadkeeper: Preview Compaction',
      [commandIds.applyPreview]: 'Threadkeeper: Apply Compaction',
      [commandIds.closePreview]: 'Threadkeeper: Close Preview Without Compacting',
      [commandIds.editSummary]: 'Threadkeeper: Edit Summary…',
      [commandIds.resummarize]: 'Threadkeeper: Re-summarize with Instructions…',
      [commandIds.compareCompaction]: 'Threadkeeper: Compare Before and After…',
      [commandIds.excludeEntry]: 'Threadkeeper: Exclude from Context…',
      [commandIds.includeEntry]: 'Threadkeeper: Include in Context Again…',
      [commandIds.createCheckpoint]: 'Threadkeeper: Save Snapshot',
      [commandIds.showBreakdown]: 'Threadkeeper: Show Context Breakdown',
      [commandIds.showAnalytics]: 'Threadkeeper: Show Analytics',
      [commandIds.pin]: 'Threadkeeper: Pin…',
      [commandIds.unpin]: 'Threadkeeper: Unpin…',
      [commandIds.cancelCompaction]: 'Threadkeeper: Cancel Compaction',
      [commandIds.undoCompaction]: 'Threadkeeper: Undo Last Compaction',
      [commandIds.stop]: 'Threadkeeper: Stop Answer',
      [commandIds.selectModel]: 'Threadkeeper: Select Model…',
      [commandIds.selectPolicy]: 'Threadkeeper: Select Policy…',
      [commandIds.selectTools]: 'Threadkeeper: Select Tools…',
      [commandIds.togglePlanMode]: 'Threadkeeper: Toggle Plan Mode',
      [commandIds.setThinkingLevel]: 'Threadkeeper: Set Thinking Level…',
      [commandIds.setApiKey]: 'Threadkeeper: Set API Key…',
      [commandIds.removeApiKey]: 'Threadkeeper: Remove API Key',
      [commandIds.watchAgents]: 'Threadkeeper: Watch Agents…',
      [commandIds.watchOpenClaw]: 'Threadkeeper: Watch OpenClaw Session…',
      [commandIds.shareHistory]: 'Threadkeeper: Share This History with Agents…',
      [commandIds.connectAgent]: 'Threadkeeper: Connect an Agent…',
      [commandIds.disconnectAgent]: 'Threadkeeper: Disconnect an Agent…',
      [commandIds.setUpSync]: 'Threadkeeper: Set Up Sync…',
      [commandIds.syncNow]: 'Threadkeeper: Sync Now',
      [commandIds.syncStatus]: 'Threadkeeper: Sync Status',
      [commandIds.addSyncDevice]: 'Threadkeeper: Add a Device…',
      [commandIds.leaveSync]: 'Threadkeeper: Leave Sync…',
      [commandIds.verifyHistory]: 'Threadkeeper: Verify and Repair History',
      [commandIds.handOver]: 'Threadkeeper: Hand Over…',
      [commandIds.exportSession]: 'Threadkeeper: Export Session…',
      [commandIds.exportHistory]: 'Threadkeeper: Export All Sessions…',
      [commandIds.importSessions]: 'Threadkeeper: Import Sessions…',
      [commandIds.backUpHistory]: 'Threadkeeper: Back Up History…',
      [commandIds.restoreHistory]: 'Threadkeeper: Restore History…',
      [commandIds.answerApproval]: 'Threadkeeper: Answer Pending Approval…',
      [commandIds.decideWhenFull]: 'Threadkeeper: Decide About the Full Context…',
      [commandIds.addSelection]: 'Threadkeeper: Add Selection to Chat',
      [commandIds.addFile]: 'Threadkeeper: Add File to Chat',
      [commandIds.whyIsThisLineHere]: 'Threadkeeper: Why Is This Line Here?',
      [commandIds.openMemoryNotes]: 'Threadkeeper: Open Memory Notes',
      [commandIds.askWithoutHistory]: 'Threadkeeper: Ask Without History…',
      [commandIds.showLog]: 'Threadkeeper: Show Log',
    });
  });

  it('disables commands that would be dead', () => {
    const conditions = Object.fromEntries(manifest.contributes.commands.map(({ command, enablement: when }) => [command, when]));
    const expected = Object.entries(enablement).flatMap(([clause, names]) => names.map((name) => [commandIds[name], clause]));
    const always = Object.fromEntries(commandNames.map((name) => [commandIds[name], undefined]));
    deepStrictEqual(conditions, { ...always, ...Object.fromEntries(expected) });
  });

  it('uses no context key that the code does not set', () => {
    const known = new Set<string>([
      ...Object.values(contextKeys),
      ...Object.values(commandIds),
      chatViewId,
      chatEditorType,
      sessionsViewId,
    ]);
    const { menus, keybindings, viewsWelcome } = manifest.contributes;
    const clauses = [
      ...manifest.contributes.commands.map((command) => command.enablement ?? ''),
      ...[...Object.values(menus).flat(), ...keybindings, ...viewsWelcome].map((item) => item.when ?? ''),
    ];
    const used = clauses.flatMap((clause) => clause.match(/threadkeeper\.[\w.]+/g) ?? []);
    deepStrictEqual(
      used.filter((key) => !known.has(key)),
      [],
    );
  });

  it('has exactly the settings that the code reads, each with a default and a scope', () => {
    const read = [...settingNames.map(settingKey), ...Object.keys(policyKnobs).map((knob) => `threadkeeper.${knob}`)];
    deepStrictEqual(Object.keys(properties).sort(), read.sort());
    for (const [key, property] of Object.entries(properties))
      ok(property.default !== undefined && ['application', 'machine', 'window'].includes(property.scope), key);
  });

  it('shows the built-in rules for edits as their default', () => {
    deepStrictEqual(properties[settingKey('tools.autoApproveEdits')]?.default, defaultEditRules);
  });

  it("takes addresses from the machine's settings only", () => {
    const addresses = Object.entries(properties).filter(([key]) => /url|endpoint|host|address/i.test(key));
    ok(addresses.length > 0);
    deepStrictEqual(
      addresses.filter(([, property]) => property.scope !== 'machine').map(([key]) => key),
      [],
    );
  });

  it('lets a workspace set nothing that opens a boundary, costs without a bound or deletes', () => {
    // They shape what of the history a request carries and when it is summarised, by the user's own models; nothing is lost by them, and
    // what they can cost is bounded by `budget.perDay`.
    const ofContext = /^(context|memoryFlush|checkpoint|compaction)\.|^summarizer\.(failureThreshold|resetMinutes|retryIntervalSeconds)$/;
    // A line of the status bar; a button; what is watched only after the user has agreed to it for this workspace.
    const others = ['statusBar.visible', 'history.offerBranchSummary', 'openclaw.inherit', 'openclaw.sessionKey'];
    const open = Object.entries(properties)
      .filter(([, { scope }]) => scope !== 'machine' && scope !== 'application')
      .map(([key]) => key.slice('threadkeeper.'.length));
    deepStrictEqual(
      open.filter((key) => !ofContext.test(key) && !others.includes(key)),
      [],
    );
    for (const key of [
      'tools.approval',
      'tools.autoApproveEdits',
      'instructions',
      'instructionFiles',
      'model',
      'openclaw.path',
      'openclaw.twoWay',
      'history.trashDays',
      'summarizer.chain',
      'budget.perDay',
      'prices',
    ])
      ok(!open.includes(key), key);
  });

  it('puts ten settings in front, and tags the others as advanced', () => {
    const front = Object.entries(properties).flatMap(([key, { tags }]) => (tags?.includes('advanced') ? [] : [key]));
    deepStrictEqual(front.sort(), [
      'threadkeeper.budget.perDay',
      'threadkeeper.compaction.automatic',
      'threadkeeper.context.policy',
      'threadkeeper.instructionFiles',
      'threadkeeper.instructions',
      'threadkeeper.model',
      'threadkeeper.ollama.baseUrl',
      'threadkeeper.openaiCompatible.baseUrl',
      'threadkeeper.tools.alwaysAllow',
      'threadkeeper.tools.approval',
    ]);
  });

  it('offers every policy, and the values of the default one as defaults', () => {
    const offered = properties[settingKey('context.policy')]?.enum ?? [];
    deepStrictEqual([...offered].sort(), Object.keys(presets).sort());
    deepStrictEqual(offered.slice(0, 3), ['balanced', 'goose-aggressive', 'librecode'], 'the three that are told in plain words');
    const { policy, problems } = resolvePolicy(
      'balanced',
      Object.fromEntries(Object.keys(policyKnobs).map((name) => [name, properties[`threadkeeper.${name}`]?.default])),
    );
    deepStrictEqual(problems, []);
    // What is off by default stands in the manifest as 0, and in the preset not at all.
    deepStrictEqual(
      JSON.parse(
        JSON.stringify(policy, (key, value: unknown) => (/^(reserveTokens|messages|tokens)$/.test(key) && value === 0 ? undefined : value)),
      ),
      JSON.parse(JSON.stringify(resolvePolicy('balanced').policy)),
    );
  });

  it('offers other agents exactly the tools that the code registers', () => {
    deepStrictEqual(manifest.contributes.languageModelTools.map(({ name }) => name).sort(), Object.values(sharedToolNames).sort());
  });

  it('gives every setting a description and a place', () => {
    for (const [key, { markdownDescription, order }] of Object.entries(properties)) {
      ok(localized(markdownDescription).length > 20, `${key}: its description says what it does`);
      ok(order > 0, `${key}: it has an "order"`);
    }
  });

  it('ignores what an untrusted workspace says about model, instructions and address', () => {
    const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
    deepStrictEqual([untrustedWorkspaces.supported, virtualWorkspaces.supported], ['limited', 'limited']);
    const ofUser = Object.entries(properties).flatMap(([key, { scope }]) => (scope === 'window' ? [] : [key]));
    // These two may stand in a workspace, but they say what is read into the chat from elsewhere.
    const withTrust = [settingKey('openclaw.inherit'), settingKey('openclaw.sessionKey')];
    deepStrictEqual([...untrustedWorkspaces.restrictedConfigurations].sort(), [...ofUser, ...withTrust].sort());
  });

  it('names every text it uses, and uses every text it names', () => {
    const used = new Set([...text.matchAll(/"%([^%"]+)%"/g)].map((match) => match[1]!));
    deepStrictEqual([...used].sort(), Object.keys(strings).sort());
  });

  it('puts only its own commands into menus', () => {
    const known = new Set<string>(Object.values(commandIds));
    const foreign = Object.values(manifest.contributes.menus).flatMap((items) => items.filter(({ command }) => !known.has(command)));
    deepStrictEqual(foreign, []);
  });

  it('leads through its first steps by commands and events that exist', () => {
    const known = new Set<string>([
      ...Object.values(commandIds),
      focusChatCommand,
      'workbench.action.openSettings',
      'workbench.action.moveFocusedView',
    ]);
    const linked = Object.entries(strings).flatMap(([, value]) => [...value.matchAll(/\(command:([\w.]+)/g)].map((match) => match[1]!));
    deepStrictEqual(
      linked.filter((command) => !known.has(command)),
      [],
    );
    const events = (manifest.contributes.walkthroughs ?? []).flatMap(({ steps }) =>
      steps.flatMap(({ completionEvents }) => completionEvents),
    );
    const happens = new Set<string>(Object.values(contextKeys).map((key) => `onContext:${key}`));
    deepStrictEqual(
      events.filter((event) => !happens.has(event)),
      [],
    );
  });

  it('takes one key everywhere, for the chat, and others only in chats and views: in the Sessions view for the rows that are selected', () => {
    const inChat = `focusedView == ${chatViewId} || activeWebviewPanelId == ${chatEditorType}`;
    const keys = manifest.contributes.keybindings.filter(({ args }) => args === undefined).map(({ command, when }) => [command, when]);
    deepStrictEqual(keys, [
      [focusChatCommand, undefined],
      [commandIds.nextSession, inChat],
      [commandIds.previousSession, inChat],
      [commandIds.togglePlanMode, inChat],
      [commandIds.answerApproval, `${contextKeys.asking} && (${inChat})`],
    ]);
    for (const { command, args, when } of manifest.contributes.keybindings.filter((one) => one.args !== undefined)) {
      deepStrictEqual([args, when], [selectionArgument, `focusedView == ${sessionsViewId} && listFocus && !inputFocus`], command);
      ok(Object.values<string>(commandIds).includes(command), command);
    }
  });

  it('names every key of the chat where people look for it', () => {
    const long: Readonly<Record<string, string>> = { pagedown: 'PageDown', pageup: 'PageUp' };
    const named = (key: string) =>
      key
        .split('+')
        .map((part) => long[part] ?? part[0]!.toUpperCase() + part.slice(1))
        .join('+');
    const keys = manifest.contributes.keybindings.flatMap(({ key, mac, args }) => (args === undefined ? [key, mac ?? key].map(named) : []));
    const places = ['README.md', 'package.nls.json', 'package.nls.zh-cn.json'].map((name) => {
      const said = readFileSync(join(projectRoot, name), 'utf8');
      const texts = name === 'README.md' ? said : (JSON.parse(said) as Record<string, string>)['walkthrough.chat.description']!;
      return [name, keys.filter((key) => !texts.includes(key))];
    });
    deepStrictEqual(Object.fromEntries(places), { 'README.md': [], 'package.nls.json': [], 'package.nls.zh-cn.json': [] });
  });

  it('does not offer in the palette what needs to be told what for', () => {
    const hidden = (manifest.contributes.menus['commandPalette'] ?? []).map(({ command, when }) => [command, when]);
    deepStrictEqual(hidden.sort(), onlyInTree.map((name) => [commandIds[name], 'false']).sort());
  });

  it('offers on a row of the Sessions view only what its kind of row takes', () => {
    const items = manifest.contributes.menus['view/item/context'] ?? [];
    deepStrictEqual(
      items.filter(({ when }) => !when?.startsWith(`view == ${sessionsViewId} && viewItem `)),
      [],
    );
  });

  it('has the container, the view and the ids that the code registers', () => {
    deepStrictEqual(`${manifest.publisher}.${manifest.name}`, extensionId);
    deepStrictEqual(
      manifest.contributes.viewsContainers.activitybar.map(({ id, title }) => ({ id, title })),
      [{ id: 'threadkeeper', title: 'Threadkeeper' }],
    );
    deepStrictEqual(
      manifest.contributes.views['threadkeeper']?.map(({ id, type }) => ({ id, type })),
      [
        { id: chatViewId, type: 'webview' },
        { id: sessionsViewId, type: undefined },
      ],
    );
    deepStrictEqual(
      (manifest.contributes.walkthroughs ?? []).map(({ id }) => id),
      ['start'],
    );
  });

  it('asks for VS Code 1.100, starts for the status bar and for documents of its own, and is filed under AI and Chat', () => {
    deepStrictEqual(
      { engine: manifest.engines.vscode, activation: manifest.activationEvents, categories: manifest.categories },
      {
        engine: '^1.100.0',
        activation: [
          'onStartupFinished',
          `onFileSystem:${summaryScheme}`,
          `onFileSystem:${detailsScheme}`,
          `onFileSystem:${previewScheme}`,
        ],
        categories: ['AI', 'Chat'],
      },
    );
  });

  it('ships the pictures it names', () => {
    const icons = [
      manifest.icon,
      ...manifest.contributes.viewsContainers.activitybar.map(({ icon }) => icon),
      ...Object.values(manifest.contributes.views).flatMap((views) => views.map(({ icon }) => icon)),
    ];
    const steps = (manifest.contributes.walkthroughs ?? []).flatMap(({ steps }) =>
      steps.map(({ media }) => media.svg ?? media.markdown ?? ''),
    );
    deepStrictEqual(
      [...icons, ...steps].filter((file) => !existsSync(join(projectRoot, file))),
      [],
    );
  });
});
