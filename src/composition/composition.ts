import { join } from 'node:path';
import { window } from 'vscode';
import { DisposableStore, type Disposable } from '../core/base/disposable';
import { errorText } from '../core/errors';
import { UuidV7 } from '../node/runtime/ids';
import type { AnalyticsPanel } from '../vscode/panels/analyticsPanel';
import type { BreakdownPanel } from '../vscode/panels/breakdownPanel';
import type { ChatEditors } from '../vscode/chat/places/chatEditors';
import { commandPlace } from '../vscode/chat/places/commandPlace';
import type { ChatView } from '../vscode/chat/chatView';
import type { CompactionPreviews } from '../vscode/context/compactionPreviews';
import { Configuration } from '../vscode/configuration';
import type { CommandName } from '../vscode/manifest';
import { agentsHere } from '../vscode/agents/agentsHere';
import { OpenClaw } from '../vscode/openClaw/openClaw';
import { openClawSources } from '../vscode/openClaw/openClawSources';
import type { SessionsTree } from '../vscode/sessions/tree/sessionsTree';
import { StoreLocation } from '../vscode/history/storeLocation';
import { CommandRunner } from '../node/tools/commandRunner';
import { TerminalRunner } from '../vscode/tools/terminalRunner';
import { sharedToolRuns } from '../vscode/tools/sharedToolRuns';
import type { RunSharedTool } from '../vscode/tools/sharedTools';
import type { SummaryFiles } from '../vscode/context/summaryFiles';
import type { SessionDetailsFiles } from '../vscode/sessions/sessionDetailsFiles';
import type { Base, StartedParts } from './base';
import { type ChatParts, composeChat } from './composeChat';
import { composeSessions } from './composeSessions';
import { composeSync } from './composeSync';
import { composeSurfaces } from './composeSurfaces';
import { keepCurrent } from './keepCurrent';

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
  const sessions = composeSessions(base, chat, agents, (store) => sync.isCurrent(store));
  const sync = composeSync(base, chat);
  owned.add(sync.onDidChange(() => sync.hasHeard && sessions.runRetention()));
  const surfaces = composeSurfaces(base, chat, sessions, { openClaw: () => openClaw.choose(), agents, sync });
  const openClaw = composeOpenClaw(base, chat);
  chat.store.companions.push(openClaw, agents, sync);
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
