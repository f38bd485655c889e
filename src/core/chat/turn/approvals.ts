import type { ApprovalQuestion } from '../../tools/tool';
import type { ConversationEvent } from '../events';
import { untilAborted } from '../../base/untilAborted';

/** `ask_once`: what is allowed is allowed for the rest of the session. */
export type ApprovalRule = 'allow' | 'ask' | 'ask_once' | { readonly deny: string };

/** `deny` with a text: why, in the user's words, for the model. */
export type ApprovalAnswer = 'allow' | 'session' | 'deny' | { readonly deny: string };

/** `interrupted`: nobody said no, but the conversation was closed. */
export type Approval =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly status: 'denied' | 'interrupted'; readonly reason: string };

export interface PendingApproval {
  /** UUID of the call's entry. */
  readonly call: string;
  readonly tool: string;
  readonly question: ApprovalQuestion;
}

interface Waiting extends PendingApproval {
  readonly rule: ApprovalRule;
  readonly settle: (approval: Approval) => void;
}

/*
 * What one conversation asks its user before tools run. Nothing of it is stored: who reloads the window is asked again.
 *
 *   asked ──rule: allow, or granted for the session──▶ allowed
 *     ├────rule: deny────────────────────────────────▶ denied
 *     └────rule: ask──▶ waiting ──answer──▶ allowed / denied      (waits for as long as it takes)
 *                          └─────Stop─────▶ denied;  conversation closed ──▶ interrupted
 */
export class Approvals {
  private readonly waiting = new Map<string, Waiting>();
  /** Names of tools, and single commands. */
  private readonly granted = new Set<string>();

  constructor(
    private readonly rule: (question: ApprovalQuestion, tool: string) => ApprovalRule,
    private readonly emit: (event: ConversationEvent) => void,
  ) {}

  /** Oldest first; the same object for as long as it waits. */
  get pending(): readonly PendingApproval[] {
    return [...this.waiting.values()];
  }

  async ask({ call, tool, question }: PendingApproval, signal: AbortSignal): Promise<Approval> {
    const rule = this.rule(question, tool);
    if (typeof rule === 'object') return { allowed: false, status: 'denied', reason: rule.deny };
    if (rule === 'allow' || (!question.everyTime && this.granted.has(grantOf(tool, question)))) return { allowed: true };
    if (signal.aborted) return stopped;
    const answered = new Promise<Approval>((settle) => {
      this.waiting.set(call, { call, tool, question, rule, settle });
    });
    this.emit({ type: 'approval_requested', call, tool, question });
    try {
      return await untilAborted(answered, signal, () => stopped);
    } finally {
      this.waiting.delete(call);
      this.emit({ type: 'approval_settled', call });
    }
  }

  /** The window goes, or the session is left for good: nobody said no. */
  close(): void {
    for (const { settle } of this.waiting.values()) settle(closed);
  }

  /** False when nothing is waiting for this answer (any more). */
  answer(call: string, answer: ApprovalAnswer): boolean {
    const waiting = this.waiting.get(call);
    if (!waiting) return false;
    if (answer === 'deny' || typeof answer === 'object') {
      const said = typeof answer === 'object' ? answer.deny.trim() : '';
      waiting.settle({
        allowed: false,
        status: 'denied',
        reason:
          said === ''
            ? 'The user did not allow this call. Do not try it again in another way; ask what they want instead.'
            : `The user did not allow this call, and says: ${said}`,
      });
      return true;
    }
    const { tool, question, rule, settle } = waiting;
    settle({ allowed: true });
    if (question.everyTime || (answer === 'allow' && rule !== 'ask_once')) return true;
    const grant = grantOf(tool, question);
    this.granted.add(grant);
    // What was asked about the same at the same time is answered by this, too.
    for (const other of this.waiting.values())
      if (grantOf(other.tool, other.question) === grant && !other.question.everyTime) other.settle({ allowed: true });
    return true;
  }

  /** A rule has been added: what it covers waits no longer. */
  rulesChanged(): void {
    for (const { tool, question, settle } of this.waiting.values()) if (this.rule(question, tool) === 'allow') settle({ allowed: true });
  }
}

/** What a permission for the session covers: a command as it stands, in the folder that the title names; any other tool as a whole. */
function grantOf(tool: string, { kind, title, detail, permission }: ApprovalQuestion): string {
  return kind === 'command' ? `${tool}\n${title}\n${permission ?? detail ?? ''}` : tool;
}

const stopped: Approval = {
  allowed: false,
  status: 'denied',
  reason: 'The user stopped the turn while being asked about this call. It did not run.',
};
const closed: Approval = {
  allowed: false,
  status: 'interrupted',
  reason: 'The conversation was closed while the user was being asked about this call. It did not run.',
};
