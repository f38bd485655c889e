import { QuickPickItemKind, Uri, window, workspace, type QuickPickItem } from 'vscode';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import { shortTokens } from '../../protocol/figures';
import type { WorkspaceInstructions } from '../../protocol/composer';
import type { ChatController } from '../chat/chatController';
import type { ConversationFactory } from '../chat/conversationFactory';
import type { WindowState } from '../chat/windowState';

/** Where it cannot be opened (it has gone, or is no text), the user is told. */
async function open(path: string, file: string): Promise<void> {
  try {
    await window.showTextDocument(await workspace.openTextDocument(Uri.file(file)));
  } catch (error) {
    void window.showErrorMessage(`Threadkeeper: ${t('{0} cannot be opened: {1}', path, shown(errorText(error)))}`);
  }
}

export interface InstructionChoicesDeps {
  readonly controller: Pick<ChatController, 'active' | 'choices'>;
  readonly memory: Pick<WindowState, 'instructionFilesOff' | 'setInstructionFilesOff'>;
  readonly files: ConversationFactory['instructionFiles'];
  readonly focusComposer: () => void;
}

/** Which of the workspace's instruction files count in the session on show, and the user's word on that. */
export class InstructionChoices {
  constructor(private readonly deps: InstructionChoicesDeps) {}

  async state(): Promise<WorkspaceInstructions> {
    const files = await this.files();
    return { files: files.map(({ path, tokens }) => ({ path, tokens })), off: this.off };
  }

  /** Offers to open the files and to switch them off or on; what holds then. */
  async choose(): Promise<WorkspaceInstructions> {
    const files = await this.files();
    const items: (QuickPickItem & { readonly run?: () => Promise<unknown>; readonly opens?: true })[] = files.map(
      ({ path, file, tokens }) => ({
        label: path,
        description: t('{0} tokens', shortTokens(tokens)),
        opens: true,
        run: () => open(path, file),
      }),
    );
    items.push({ label: '', kind: QuickPickItemKind.Separator }, ...this.switches());
    const chosen = await window.showQuickPick(items, {
      title: t('Instructions of this workspace'),
      placeHolder: t('Open a file, or turn them off'),
    });
    await chosen?.run?.();
    // It was opened from the chat, and VS Code gives the keyboard to the editors when it closes.
    if (!chosen?.opens) this.deps.focusComposer();
    return this.state();
  }

  private switches(): (QuickPickItem & { readonly run: () => Promise<unknown> })[] {
    const { memory, controller } = this.deps;
    const { choices } = controller;
    const detail = choices.areForNewSession ? {} : { detail: t('The next message sends the whole prompt again, once.') };
    const on = async () => {
      await memory.setInstructionFilesOff(false);
      await choices.setHeedsInstructionFiles(true);
    };
    if (this.off !== null) return [{ label: t('Turn on'), ...detail, run: on }];
    return [
      { label: t('Turn off for this session'), ...detail, run: () => choices.setHeedsInstructionFiles(false) },
      { label: t('Turn off for this workspace'), ...detail, run: () => memory.setInstructionFilesOff(true) },
    ];
  }

  private get off(): WorkspaceInstructions['off'] {
    if (this.deps.memory.instructionFilesOff()) return 'workspace';
    return this.deps.controller.choices.heedsInstructionFiles ? null : 'session';
  }

  private files(): ReturnType<InstructionChoicesDeps['files']> {
    return this.deps.files(this.deps.controller.active.session?.uuid ?? null);
  }
}
