import { commands, TabInputText, Uri, window, workspace, type TextDocument } from 'vscode';
import { t } from '../../core/l10n';
import { planIn } from '../../core/plan/planText';
import type { IdSource, SessionStore } from '../../core/ports';
import { nothingWritten } from '../../core/session/userMessage';
import type { Mode } from '../../protocol/messages';
import type { ChatController } from '../chat/chatController';

export interface PlanActionsDeps {
  readonly controller: ChatController;
  readonly store: () => Promise<SessionStore>;
  readonly ids: IdSource;
}

/** Plan mode, and the plan that an answer in it ends in. Rejects in words for the user. */
export class PlanActions {
  constructor(private readonly deps: PlanActionsDeps) {}

  async setMode(mode: Mode): Promise<void> {
    const { choices, feed } = this.deps.controller;
    await choices.setPlanning(mode === 'plan');
    // A session that has not begun tells nobody.
    if (choices.areForNewSession) feed.delta({ kind: 'mode', mode });
  }

  switchMode(): Promise<void> {
    return this.setMode(this.deps.controller.choices.planning ? 'chat' : 'plan');
  }

  /** In a document without a file: VS Code keeps it through a reload, and closing it leaves the plan as the model wrote it. */
  async edit(entry: string): Promise<void> {
    const plan = await this.planOf(entry);
    const open = await openPlan(entry);
    const document = open ?? (await workspace.openTextDocument(addressOf(entry)));
    const editor = await window.showTextDocument(document, { preview: false });
    if (!open) await editor.edit((edit) => edit.insert(document.positionAt(0), `${plan}\n`));
  }

  /** The mode is left first: the turn that begins may change things. */
  async start(entry: string): Promise<void> {
    const { controller, ids } = this.deps;
    const session = controller.active.addressee;
    const edited = await openPlan(entry);
    const plan = (edited?.getText().trim() ?? '') || (await this.planOf(entry));
    await controller.choices.setPlanning(false, session);
    try {
      const text = `${t('Carry out this plan, and keep a to-do list as you go.')}\n\n${plan}`;
      await controller.active.send(ids.next(), text, [], { session, stale: nothingWritten });
    } catch (error) {
      await controller.choices.setPlanning(true, session).catch(() => undefined);
      throw error;
    }
    if (edited) await discard(edited);
  }

  private async planOf(entry: string): Promise<string> {
    const [found] = await (await this.deps.store()).entries([entry]);
    const plan = found?.content.type === 'message' ? planIn(found.content.text) : null;
    if (plan === null) throw new Error(t('This answer has no plan any more.'));
    return plan;
  }
}

/** The end of an id tells answers apart: its beginning is the time. */
function addressOf(entry: string): Uri {
  return Uri.from({ scheme: 'untitled', path: `${t('Plan')} ${entry.slice(-6)}.md` });
}

/** After a reload a document is there for its tab before it is read again. */
async function openPlan(entry: string): Promise<TextDocument | null> {
  const address = addressOf(entry).toString();
  const isOpen = window.tabGroups.all.some(({ tabs }) =>
    tabs.some(({ input }) => input instanceof TabInputText && input.uri.toString() === address),
  );
  return isOpen ? workspace.openTextDocument(addressOf(entry)) : null;
}

/** Its text is in the conversation now: nobody has to be asked whether to save it. */
async function discard(document: TextDocument): Promise<void> {
  await window.showTextDocument(document, { preview: false });
  await commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
}
