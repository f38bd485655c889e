import { StoreError } from '../../core/errors';
import { storeTurnError } from '../../core/chat/turn/turnError';
import { t } from '../../core/l10n';
import type { FullAnswer, ViewRequest } from '../../protocol/messages';
import type { Attachment } from '../../core/session/userMessage';
import { mostAttachments } from '../../protocol/composer';
import type { RestoreCommands } from '../rewind/restoreCommands';
import type { ReviewCommands } from '../rewind/reviewCommands';
import type { BranchCommands } from '../sessions/branchCommands';
import type { ChatController } from './chatController';
import type { AllCommands } from '../manifest';
import type { ContextCommands } from '../context/contextCommands';
import type { ModelCommands } from '../models/modelCommands';
import type { ApprovalCommands } from '../tools/approvalCommands';
import type { ComposerActions } from '../composer/composerActions';

/** What the view may ask of the workbench. Rejections are shown to the user as they are. */
export interface WorkbenchActions {
  readonly branches: Pick<BranchCommands, 'edit' | 'regenerate' | 'switchTo' | 'label' | 'fork' | 'summarizeLeft'>;
  readonly restores: Pick<RestoreCommands, 'restore'>;
  readonly reviews: Pick<ReviewCommands, 'open'>;
  readonly composer: Pick<
    ComposerActions,
    'attach' | 'attachMenu' | 'plans' | 'mentions' | 'instructions' | 'argumentsOf' | 'image' | 'open' | 'slash'
  >;
  readonly context: Pick<
    ContextCommands,
    | 'compactNow'
    | 'checkpoint'
    | 'undoCompaction'
    | 'editSummary'
    | 'reuseSummary'
    | 'resummarize'
    | 'pinTarget'
    | 'unpinTarget'
    | 'setExcluded'
    | 'compare'
  >;
  readonly models: Pick<ModelCommands, 'select' | 'setKey' | 'chooseOffline'>;
  readonly all: Pick<AllCommands, 'editSessionDetails' | 'selectPolicy' | 'verifyHistory' | 'showBreakdown' | 'showLog'>;
  readonly approvals: Pick<ApprovalCommands, 'answer'>;
  answerFull(answer: FullAnswer): Promise<void>;
  showDiff(call: string): Promise<void>;
  showTerminal(call: string): void;
  showAside(entry: string): Promise<void>;
  openNote(path: string): Promise<void>;
  saveNote(): Promise<void>;
  openLink(href: string): Promise<void>;
  copy(text: string): Promise<void>;
  insertCode(text: string): Promise<void>;
  existingFiles(hrefs: readonly string[]): Promise<readonly string[]>;
  applyCode(text: string, info: string): Promise<void>;
  runCode(text: string, language: string): Promise<void>;
  openCode(text: string, language: string): Promise<void>;
  openSettings(): Promise<void>;
  manageTrust(): Promise<void>;
}

/** Answers the requests of the view. Rejects with an `Error` whose message is fit for the user. */
export function answersFrom(controller: ChatController, workbench: WorkbenchActions): (request: ViewRequest) => Promise<unknown> {
  return async (request) => {
    try {
      return (await answer(request, controller, workbench)) ?? null;
    } catch (error) {
      throw StoreError.is(error) ? new Error(storeTurnError(error).message, { cause: error }) : error;
    }
  };
}

/** One case for each message of the protocol: the compiler asks for it, and knows what is in its request. */
async function answer(request: ViewRequest, controller: ChatController, workbench: WorkbenchActions): Promise<unknown> {
  switch (request.method) {
    case 'send':
      return controller.active.send(request.id, request.text, checked(request.attachments), request);
    case 'stop':
      return controller.active.chat?.stop();
    case 'unqueue':
      return controller.active.unqueue(request.id);
    case 'edit_queued':
      return controller.active.changeQueued((chat) => chat.conversation.queue.edit(request.id, request.text));
    case 'move_queued':
      return controller.active.changeQueued((chat) => chat.conversation.queue.move(request.id, request.before));
    case 'send_queued':
      return controller.active.changeQueued((chat) => chat.sendQueued(request.id));
    case 'retry':
      return controller.active.retry();
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
    case 'restore':
      return workbench.restores.restore(request.entry);
    case 'review':
      return workbench.reviews.open(request.entry);
    case 'older':
      return controller.active.older(request.before);
    case 'save_draft':
      return controller.active.keepDraft(request.session, { text: request.text, attachments: request.attachments ?? [] });
    case 'give_back':
      return controller.active.giveBack(request.session, { text: request.text, attachments: request.attachments ?? [] });
    case 'measure_draft':
      return controller.measureDraft(request.text, request.attachments);
    case 'attach':
      return workbench.composer.attach(request.source);
    case 'attach_menu':
      return workbench.composer.attachMenu.choose();
    case 'find_mentions':
      return workbench.composer.mentions(request.query);
    case 'instructions':
      return workbench.composer.instructions.state();
    case 'choose_instructions':
      return workbench.composer.instructions.choose();
    case 'attachment_image':
      return workbench.composer.image(request.hash, request.mime);
    case 'open_attachment':
      return workbench.composer.open(request.attachment);
    case 'find_arguments':
      return workbench.composer.argumentsOf(request.name, request.query);
    case 'slash':
      return workbench.composer.slash(request.name, request.argument);
    case 'set_mode':
      return workbench.composer.plans.setMode(request.mode);
    case 'start_plan':
      return workbench.composer.plans.start(request.entry);
    case 'edit_plan':
      return workbench.composer.plans.edit(request.entry);
    case 'compact':
      return workbench.context.compactNow();
    case 'cancel_compaction':
      return controller.active.chat?.conversation.cancelCompaction();
    case 'checkpoint':
      return workbench.context.checkpoint();
    case 'show_breakdown':
      return workbench.all.showBreakdown([]);
    case 'undo_compaction':
      return workbench.context.undoCompaction();
    case 'edit_summary':
      return workbench.context.editSummary();
    case 'reuse_summary':
      return workbench.context.reuseSummary(request.id);
    case 'resummarize':
      return workbench.context.resummarize();
    case 'pin':
      return workbench.context.pinTarget({ kind: 'entry', target: request.id }).then(() => undefined);
    case 'unpin':
      return workbench.context.unpinTarget({ kind: 'entry', target: request.id });
    case 'exclude':
    case 'include':
      return workbench.context.setExcluded(request.id, request.method === 'exclude');
    case 'compare':
      return workbench.context.compare(request.id);
    case 'show_entry':
      return showEntry(request.id, controller);
    case 'answer_tool':
      return workbench.approvals.answer(request.id, request.title, request.answer);
    case 'show_aside':
      return workbench.showAside(request.id);
    case 'show_terminal':
      return workbench.showTerminal(request.id);
    case 'answer_full':
      return workbench.answerFull(request.answer);
    case 'open_note':
      return workbench.openNote(request.path);
    case 'save_note':
      return workbench.saveNote();
    case 'show_diff':
      return workbench.showDiff(request.id);
    case 'new_session':
      return controller.active.newSession().then(() => controller.feed.focusComposer());
    case 'open_session':
      return controller.active.openSession(request.uuid);
    case 'rename_session':
      return controller.renameSession(request.title);
    case 'select_model':
      return workbench.models.select(request.provider);
    case 'edit_session_details':
      return workbench.all.editSessionDetails([]);
    case 'select_policy':
      return workbench.all.selectPolicy([]);
    case 'verify_history':
      return workbench.all.verifyHistory([]);
    case 'manage_trust':
      return workbench.manageTrust();
    case 'dismiss_banner':
      return controller.dismissBanner(request.banner);
    case 'set_api_key':
      return workbench.models.setKey(request.provider);
    case 'choose_offline':
      return workbench.models.chooseOffline();
    case 'open_link':
      return workbench.openLink(request.href);
    case 'copy':
      return workbench.copy(request.text);
    case 'insert_code':
      return workbench.insertCode(request.text);
    case 'find_files':
      return workbench.existingFiles(request.hrefs);
    case 'apply_code':
      return workbench.applyCode(request.text, request.info);
    case 'run_code':
      return workbench.runCode(request.text, request.language);
    case 'open_code':
      return workbench.openCode(request.text, request.language);
    case 'open_settings':
      return workbench.openSettings();
    case 'show_log':
      return workbench.all.showLog([]);
  }
}

async function showEntry(id: string, controller: ChatController): Promise<void> {
  const { session } = controller.active;
  if (!session || !(await controller.active.reveal(session.uuid, id)))
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
