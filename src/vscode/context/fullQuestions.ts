import type { AskWhenFull, FullQuestion, WhenFullReply } from '../../core/chat/turn/turn';

interface Waiting {
  readonly question: FullQuestion;
  readonly settle: (reply: WhenFullReply) => void;
}

/**
 * What the policy `ask` leaves to the user, by session. The turn waits for as long as it takes, also while no view is open; Stop ends
 * it. Nothing of it is stored: a turn that a closed window took with it is asked about again when it is repeated.
 */
export class FullQuestions {
  private readonly waiting = new Map<string, Waiting>();

  /** `asked`: somebody waits now. */
  constructor(private readonly asked: (question: FullQuestion) => void) {}

  readonly ask: AskWhenFull = (question, signal) =>
    new Promise((resolve) => {
      const { session } = question;
      const settle = (reply: WhenFullReply) => {
        if (this.waiting.get(session)?.settle === settle) this.waiting.delete(session);
        resolve(reply);
      };
      if (signal.aborted) return resolve('continue');
      signal.addEventListener('abort', () => settle('continue'), { once: true });
      this.waiting.set(session, { question, settle });
      this.asked(question);
    });

  pending(session: string | undefined): FullQuestion | undefined {
    return session === undefined ? undefined : this.waiting.get(session)?.question;
  }

  /** False when nothing waits for this answer (any more). */
  answer(session: string, reply: WhenFullReply): boolean {
    const waiting = this.waiting.get(session);
    waiting?.settle(reply);
    return waiting !== undefined;
  }
}
