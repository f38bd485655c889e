import { commands, env, l10n, Uri, window, workspace, type ExtensionContext } from 'vscode';
import type { Composition } from './composition/composition';
import { setListenerFailed } from './core/base/event';
import { errorText } from './core/errors';
import { useTranslations } from './core/l10n';
import { ApiKeys } from './vscode/models/apiKeys';
import { WindowState } from './vscode/chat/windowState';
import { ContextKeys } from './vscode/context/contextKeys';
import {
  analyticsPanelType,
  breakdownPanelType,
  chatEditorType,
  chatViewId,
  detailsScheme,
  droppedSessionType,
  previewScheme,
  sessionLinkPath,
  sessionScheme,
  sessionsViewId,
  settingsPrefix,
  summaryScheme,
  commandIds,
  type CommandName,
  type WalkthroughStep,
} from './vscode/manifest';
import type { SettingName } from './vscode/settingsValues';
import { endpointOf } from './vscode/models/endpoint';
import { LazyFiles, LazyTree } from './vscode/lazyContributions';
import { Log } from './vscode/log';
import { ServerOffer } from './vscode/mcp/serverOffer';
import type { SessionNode } from './vscode/sessions/tree/sessionNodes';
import { StatusBar } from './vscode/context/statusBar';
import { shareTools } from './vscode/tools/sharedTools';
import { Walkthrough } from './vscode/context/walkthrough';

let openLog: Log | undefined;
let composition: Promise<Composition> | undefined;

/**
 * Registers what VS Code may ask for and shows the meter as it was last. Everything else is composed when something of it is
 * needed: a window in which nobody chats loads some 40 KB of code.
 */
export function activate(context: ExtensionContext): void {
  // Without texts of ours in the language VS Code is shown in, everything is in English, dates and numbers too.
  if (l10n.bundle) useTranslations({ language: env.language, texts: l10n.bundle });
  // It is not among the subscriptions, which VS Code disposes before `deactivate` has ended: what runs then still has something to say.
  const log = (openLog = new Log(() => window.createOutputChannel('Threadkeeper', { log: true })));
  setListenerFailed((error) =>
    log.error('listener_failed', { detail: errorText(error), stack: error instanceof Error ? error.stack : undefined }),
  );
  const memory = new WindowState(context.workspaceState, context.globalState, log);
  const keys = new ApiKeys({ secrets: context.secrets, state: context.globalState, env: process.env, log });
  const contextKeys = new ContextKeys();
  // VS Code rejects it for a walkthrough that was never opened, and has kept the tick all the same.
  const tick = (step: WalkthroughStep) =>
    void commands.executeCommand('welcome.markStepComplete', `${context.extension.id}#start#${step}`).then(undefined, () => undefined);
  const walkthrough = new Walkthrough(memory, contextKeys, tick);
  const statusBar = new StatusBar({ memory, isVisible: () => setting('statusBar.visible') !== false });
  const servers = new ServerOffer(context);
  const sessionsView: LazyTree<SessionNode> = new LazyTree(sessionsViewId, async () => (await composed()).tree, draggedSession);
  const composed = (): Promise<Composition> =>
    (composition ??= import('./composition/composition')
      .then(({ compose }) => {
        const all = compose({ context, log, memory, keys, contextKeys, walkthrough, statusBar, servers, sessionsView });
        context.subscriptions.push(all);
        return all;
      })
      .catch((error: unknown) => {
        // Whoever asks next tries again.
        composition = undefined;
        throw error;
      }));
  const showStoredKey = () => {
    const hasStored =
      keys.hasStored(endpointOf(textSetting('anthropic.baseUrl'))) ||
      keys.hasStored(endpointOf(textSetting('openaiCompatible.baseUrl'), 'openai-compatible'));
    contextKeys.set('hasStoredKey', hasStored);
    if (hasStored) walkthrough.done('model');
  };

  context.subscriptions.push(
    keys,
    statusBar,
    servers,
    sessionsView,
    window.registerUriHandler({
      handleUri: async ({ path, query }) => {
        if (!path.startsWith(sessionLinkPath)) return;
        const session = path.slice(sessionLinkPath.length);
        const entry = new URLSearchParams(query).get('entry') ?? undefined;
        await (await composed()).run('openSession', [session, entry]);
      },
    }),
    keys.onDidChange(showStoredKey),
    new LazyFiles(summaryScheme, async () => (await composed()).summaries),
    new LazyFiles(detailsScheme, async () => (await composed()).details),
    new LazyFiles(previewScheme, async () => (await composed()).previews),
    window.registerWebviewViewProvider(chatViewId, {
      resolveWebviewView: async (view) => {
        walkthrough.done('chat');
        (await composed()).view.resolve(view);
      },
    }),
    window.registerWebviewPanelSerializer(chatEditorType, {
      deserializeWebviewPanel: async (panel, state: unknown) => (await composed()).editors.restore(panel, state),
    }),
    window.registerCustomEditorProvider(droppedSessionType, {
      openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
      resolveCustomEditor: async ({ uri }, panel) => (await composed()).editors.dropped(uri, panel),
    }),
    window.registerWebviewPanelSerializer(breakdownPanelType, {
      deserializeWebviewPanel: async (panel) => (await composed()).breakdown.restore(panel),
    }),
    window.registerWebviewPanelSerializer(analyticsPanelType, {
      deserializeWebviewPanel: async (panel, state: unknown) => (await composed()).analytics.restore(panel, state),
    }),
    shareTools(async (...call) => (await composed()).runSharedTool(...call)),
    ...(Object.keys(commandIds) as CommandName[]).map((name) =>
      commands.registerCommand(commandIds[name], async (...args: unknown[]) => (await composed()).run(name, args)),
    ),
    workspace.onDidChangeConfiguration((change) => {
      if (!change.affectsConfiguration(settingsPrefix)) return;
      statusBar.draw();
      showStoredKey();
      // A value that cannot be used is told at once.
      inBackground(composed());
    }),
  );

  contextKeys.set('hasSession', typeof memory.lastSession() === 'string');
  contextKeys.set('canUndo', memory.lastMeter()?.canUndo === true);
  showStoredKey();
  const watched = setting('agents.watch');
  const watches = Array.isArray(watched) && watched.length > 0;
  if (watches) walkthrough.done('agents');
  if (memory.synced() !== null || setting('openclaw.inherit') === true || watches) inBackground(composed());
  else if (typeof memory.lastSession() !== 'string') {
    inBackground(
      import('./vscode/history/storeLocation').then(
        async ({ StoreLocation }) => (await new StoreLocation(context).mayHaveSessions()) && contextKeys.set('hasSession', true),
      ),
    );
  }

  function inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => log.error('not_started', { detail: errorText(error) }));
  }
}

/** What a row of the Sessions view opens in the editor area; nothing for one of another workspace or in the trash. */
function draggedSession(node: SessionNode): Uri | null {
  if (node.kind !== 'session' || node.other || node.session.deletedAt !== null) return null;
  const { uuid, title } = node.session;
  return Uri.from({ scheme: sessionScheme, path: `/${title.replaceAll('/', ' ') || uuid}`, query: uuid });
}

/** Ends the running turn in good order. What VS Code does not wait for is not lost: every entry is on disk before it is shown. */
export async function deactivate(): Promise<void> {
  try {
    await (await composition)?.close();
  } finally {
    openLog?.dispose();
  }
}

function setting(name: SettingName): unknown {
  return workspace.getConfiguration(settingsPrefix).get(name);
}

function textSetting(name: SettingName): string {
  const value = setting(name);
  return typeof value === 'string' ? value : '';
}
