import { SyncHere } from '../vscode/sync/syncHere';
import type { Base } from './base';
import type { ChatParts } from './composeChat';

/** The same history on several machines, where the user has set it up; how it stands is told in the Sessions view and the status bar. */
export function composeSync(
  { context, log, memory, contextKeys, statusBar, sessionsView, owned, configuration, location }: Base,
  chat: ChatParts,
): SyncHere {
  const sync = owned.add(
    new SyncHere({
      secrets: context.secrets,
      memory,
      contextKeys,
      folder: async () => (await location.resolve()).folder,
      store: chat.store,
      settings: () => configuration.current.sync,
      chats: { places: chat.places, isDismissed: (key) => memory.dismissedBanners.has(key) },
      log,
    }),
  );
  owned.add(
    sync.onDidChange((line) => {
      const { view } = sessionsView;
      view.description = line?.short;
      statusBar.showSync(line);
    }),
  );
  return sync;
}
