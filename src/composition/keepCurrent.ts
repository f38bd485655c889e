import { workspace } from 'vscode';
import type { ChatController } from '../vscode/chat/chatController';
import { showKeyStorageBroken, showSettingProblem } from '../vscode/notices';
import { SpendingWatch } from '../vscode/models/spendingWatch';
import type { Base } from './base';
import type { ChatParts } from './composeChat';

/** The chat follows keys, settings and trust; the status bar and the conditions of menus follow the chat. */
export function keepCurrent(
  { log, keys, contextKeys, walkthrough, statusBar, owned, configuration }: Base,
  { places, store }: ChatParts,
): void {
  const spent = owned.add(
    new SpendingWatch({ store: () => store.current, session: () => places.active.session?.uuid ?? null, now: Date.now, log }),
  );
  owned.add(spent.onDidChange((spending) => statusBar.showSpending(spending)));
  owned.add(
    places.onDidChangeState((state) => {
      statusBar.update(state);
      spent.touch();
      contextKeys.update(state);
      walkthrough.saw(state);
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
