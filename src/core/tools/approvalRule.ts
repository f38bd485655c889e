import type { ApprovalRule } from '../chat/turn/approvals';
import type { ApprovalQuestion } from './tool';

export const approvalModes = ['ask', 'allowReads', 'session'] as const;
/** `ask`: before everything; `allowReads`: before what is no reading; `session`: the same, but once for each tool and session. */
export type ApprovalMode = (typeof approvalModes)[number];

/** Answers of a run without anybody to ask. */
export const headlessAnswers = ['none', 'reads', 'all'] as const;
export type HeadlessAnswer = (typeof headlessAnswers)[number];

/** What the settings say about a call. In a workspace that is not trusted nothing but reading is ever allowed. */
export function approvalRule({ kind, everyTime }: ApprovalQuestion, mode: ApprovalMode, trusted: boolean): ApprovalRule {
  if (!trusted && kind !== 'read')
    return {
      deny: 'This workspace is not trusted (restricted mode): its files can be read, but nothing is changed or run in it, and the notes that hold in every workspace stay as they are. The user can trust it with “Workspaces: Manage Workspace Trust”.',
    };
  if (everyTime || mode === 'ask') return 'ask';
  if (kind === 'read') return 'allow';
  return mode === 'session' ? 'ask_once' : 'ask';
}

export function headlessRule({ kind, everyTime }: ApprovalQuestion, answer: HeadlessAnswer): ApprovalRule {
  const allowed = answer === 'all' || (answer === 'reads' && kind === 'read' && !everyTime);
  return allowed ? 'allow' : { deny: 'Nobody can be asked here, and this run does not allow this call (--allow-tools).' };
}
