import { StoreError } from '../../core/errors';
import { storeTurnError } from '../../core/chat/turn/turnError';
import { t } from '../../core/l10n';
import type { FullAnswer, ViewRequest } from '../../protocol/messages';
import type { Attachment } from '../../core/session/attachment';
import { mostAttachments } from '../../protocol/composer';
import type { BranchCommands } from '../sessions/branchCommands';
import type { ChatController } from './chatController';
import type { ComposerActions } from '../composer/composerActions';

/** What the view may ask of the workbench. Rejections are shown to the user as they are. */
export interface WorkbenchActions {
  readonly branches: Pick<BranchCommands, 'edit' | 'regenerate' | 'switchTo' | 'label' | 'fork' | 'summarizeLeft'>;
  readonly composer: Pick<ComposerActions, 'attach' | 'mentions' | 'argumentsOf' | 'image' | 'open' | 'slash'>;
  selectModel(only?: 'ollama' | 'vscode'): Promise<void>;
  setApiKey(provider?: 'openai-compatible'): Promise<void>;
  chooseOffline(): Promise<void>;
  compact(): Promise<void>;
  checkpoint(): Promise<void>;
  showBreakdown(): void;
  undoCompaction(): Promise<void>;
  editSummary(): Promise<void>;
  resummarize(): Promise<void>;
  pinMessage(id: string): Promise<void>;
  unpinMessage(id: string): Promise<void>;
  setExcluded(id: string, excluded: boolean): Promise<void>;
  compareCompaction(id: string): Promise<void>;
  answerFull(answer: FullAnswer): Promise<void>;
  editSessionDetails(): Promise<void>;
  selectPolicy(): Promise<void>;
  verifyHistory(): Promise<void>;
  showDiff(call: string): Promise<void>;
  openNote(path: string): Promise<void>;
  saveNote(): Promise<void>;
  openLink(href: string): Promise<void>;
  copy(text: string): Promise<void>;
  insertCode(text: string): Promise<void>;
  openCode(text: string, language: string): Promise<void>;
  openSettings(): Promise<void>;
  showLog(): void;
}

/** Answers one request of the view. Rejects with an `Error` whose message is fit for the user. */
export async function answerRequest(request: ViewRequest, controller: ChatController, workbench: WorkbenchActions): Promise<unknown> {
  try {
    return (await answer(request, controller, workbench)) ?? null;
  } catch (error) {
    throw StoreError.is(error) ? new Error(storeTurnError(error).message, { cause: error }) : error;
  }
}

/** One case for each message of the protocol: the compiler asks for it, and knows what is in its request. */
async function answer(request: ViewRequest, controller: ChatController, workbench: WorkbenchActions): Promise<unknown> {
  switch (request.method) {
    case 'send':
      return controller.send(request.id, request.text, checked(request.attachments));
    case 'stop':
      return controller.stop();
    case 'unqueue':
      return controller.unqueue(request.id);
    case 'retry':
      return controller.retry();
    case 'edit':
      return workbench.branches.edit(request.id, request.entry, request.text);
    case 'regenerate':
      return workbench.branches.regenerate(request.entry);
    case 'switch_branch':
      return workbench.branches.switchTo(request.entry);
    case 'summarize_left':
      return workbench.branches.summarizeLeft(request.how);
    case 'label':
      return workbench.branches.label(request.entry, request.label);
    case 'fork':
      return workbench.branches.fork(request.entry);
    case 'older':
      return controller.older(request.before);
    case 'save_draft':
      return controller.saveDraft(request.text, request.attachments);
    case 'measure_draft':
      return controller.conversation().then((conversation) => conversation?.measureDraft(request.text, request.attachments));
    case 'attach':
      return workbench.composer.attach(request.source);
    case 'find_mentions':
      return workbench.composer.mentions(request.query);
    case 'attachment_image':
      return workbench.composer.image(request.hash, request.mime);
    case 'open_attachment':
      return workbench.composer.open(request.attachment);
    case 'find_arguments':
      return workbench.composer.argumentsOf(request.name, request.query);
    case 'slash':
      return workbench.composer.slash(request.name, request.argument);
    case 'compact':
      return workbench.compact();
    case 'cancel_compaction':
      return controller.cancelCompaction();
    case 'checkpoint':
      return workbench.checkpoint();
    case 'show_breakdown':
      return workbench.showBreakdown();
    case 'undo_compaction':
      return workbench.undoCompaction();
    case 'edit_summary':
      return workbench.editSummary();
    case 'resummarize':
      return workbench.resummarize();
    case 'pin':
      return workbench.pinMessage(request.id);
    case 'unpin':
      return workbench.unpinMessage(request.id);
    case 'exclude':
    case 'include':
      return workbench.setExcluded(request.id, request.method === 'exclude');
    case 'compare':
      return workbench.compareCompaction(request.id);
    case 'show_entry':
      return showEntry(request.id, controller);
    case 'answer_tool':
      return controller.answerApproval(request.id, request.answer);
    case 'answer_full':
      return workbench.answerFull(request.answer);
    case 'open_note':
      return workbench.openNote(request.path);
    case 'save_note':
      return workbench.saveNote();
    case 'show_diff':
      return workbench.showDiff(request.id);
    case 'new_session':
      return controller.newSession().then(() => controller.focusComposer());
    case 'open_session':
      return controller.openSession(request.uuid);
    case 'rename_session':
      return controller.renameSession(request.title);
    case 'select_model':
      return workbench.selectModel(request.provider);
    case 'edit_session_details':
      return workbench.editSessionDetails();
    case 'select_policy':
      return workbench.selectPolicy();
    case 'verify_history':
      return workbench.verifyHistory();
    case 'dismiss_banner':
      return controller.dismissBanner(request.banner);
    case 'set_api_key':
      return workbench.setApiKey(request.provider);
    case 'choose_offline':
      return workbench.chooseOffline();
    case 'open_link':
      return workbench.openLink(request.href);
    case 'copy':
      return workbench.copy(request.text);
    case 'insert_code':
      return workbench.insertCode(request.text);
    case 'open_code':
      return workbench.openCode(request.text, request.language);
    case 'open_settings':
      return workbench.openSettings();
    case 'show_log':
      return workbench.showLog();
  }
}

async function showEntry(id: string, controller: ChatController): Promise<void> {
  const { session } = controller;
  if (!session || !(await controller.reveal(session.uuid, id)))
    throw new Error(t('These messages are not in the transcript as it stands now (another branch). Search the history to find them.'));
}

function checked(attachments: readonly Attachment[] = []): readonly Attachment[] {
  if (attachments.length > mostAttachments)
    throw new Error(
      t(
        'A message takes {0} attachments; this one has {1}. Remove some, or send them one after the other.',
        mostAttachments,
        attachments.length,
      ),
    );
  return attachments;
}
