import * as z from 'zod/mini';
import { Attachment } from '../core/session/userMessage';

export { planIn } from '../core/plan/planText';
// The view knows nothing of the core but what crosses to it.
export {
  Attachment,
  attachmentTitle,
  imageTypes,
  isBlank,
  mostImageBytes,
  nothingWritten,
  type Written,
} from '../core/session/userMessage';

/** More is refused in words: a message with that many is a mistake, and providers take no more images at once. */
export const mostAttachments = 20;
/** Bytes of a file that is attached as text. */
export const mostFileBytes = 1_048_576;

export const Attachments = z.array(Attachment);

/** What the view has of something that is to be attached; the host makes an `Attachment` of it. */
export const AttachSource = z.discriminatedUnion('kind', [
  /** Pasted or dropped; `data` in base64. */
  z.object({ kind: z.literal('image'), name: z.string(), data: z.string() }),
  /** Relative to the workspace: a file or a folder. */
  z.object({ kind: z.literal('path'), path: z.string() }),
  /** Dropped from the Explorer or an editor's tab. */
  z.object({ kind: z.literal('uri'), uri: z.string() }),
  /** It is the selection in the editor that was used last. */
  z.object({ kind: z.literal('selection') }),
  /** What VS Code's Problems view lists. */
  z.object({ kind: z.literal('problems') }),
  /** What the last command of the terminal in front has printed. */
  z.object({ kind: z.literal('terminal') }),
  /** What Git has that is not committed. */
  z.object({ kind: z.literal('changes') }),
]);
export type AttachSource = z.infer<typeof AttachSource>;

/** A choice behind `@`. */
export const Mention = z.object({
  source: AttachSource,
  label: z.string(),
  detail: z.string(),
  icon: z.enum(['file', 'folder', 'selection', 'problems', 'terminal', 'changes']),
});
export type Mention = z.infer<typeof Mention>;
export const Mentions = z.array(Mention);

/** A choice for what follows a slash command; `value` is what is put there. */
export const ArgumentChoice = z.object({ value: z.string(), label: z.string(), detail: z.string() });
export type ArgumentChoice = z.infer<typeof ArgumentChoice>;
export const ArgumentChoices = z.array(ArgumentChoice);

export const WrittenReply = z.object({ text: z.string(), attachments: Attachments });

/** Instruction files of the workspace that the session on show has, or would have; `off`: for what they have been switched off. */
export const WorkspaceInstructions = z.object({
  files: z.array(z.object({ path: z.string(), tokens: z.number() })),
  off: z.nullable(z.enum(['session', 'workspace'])),
});
export type WorkspaceInstructions = z.infer<typeof WorkspaceInstructions>;
