import type { ApprovalRule } from '../chat/turn/approvals';
import { isAllowed } from './allowRules';
import type { ApprovalQuestion } from './tool';

export const approvalModes = ['ask', 'allowReads', 'session'] as const;
/** `ask`: before everything; `allowReads`: before what is no reading; `session`: the same, once a session for each tool and command. */
export type ApprovalMode = (typeof approvalModes)[number];

/** Answers of a run without anybody to ask. */
export const headlessAnswers = ['none', 'reads', 'all'] as const;
export type HeadlessAnswer = (typeof headlessAnswers)[number];

export interface ApprovalSettings {
  readonly mode: ApprovalMode;
  /** What is allowed for good, as `allowRules.ts` reads it. */
  readonly rules: readonly string[];
}

/** What the settings say about a call. In a workspace that is not trusted nothing but reading is ever allowed. */
export function approvalRule(question: ApprovalQuestion, tool: string, { mode, rules }: ApprovalSettings, trusted: boolean): ApprovalRule {
  const { kind, everyTime } = question;
  if (!trusted && kind !== 'read')
    return {
      deny: 'This workspace is not trusted (restricted mode): its files can be read, but nothing is changed or run in it, and the notes that hold in every workspace stay as they are. The user can trust it with “Workspaces: Manage Workspace Trust”.',
    };
  if (isAllowed(rules, question, tool)) return 'allow';
  if (everyTime || mode === 'ask') return 'ask';
  if (kind === 'read') return 'allow';
  return mode === 'session' ? 'ask_once' : 'ask';
}

export function headlessRule({ kind, everyTime }: ApprovalQuestion, answer: HeadlessAnswer): ApprovalRule {
  const allowed = answer === 'all' || (answer === 'reads' && kind === 'read' && !everyTime);
  return allowed ? 'allow' : { deny: 'Nobody can be asked here, and this run does not allow this call (--allow-tools).' };
}
