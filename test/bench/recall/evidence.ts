import { recallCorpus } from '../../support/chat/recallCorpus';

export interface Said {
  readonly id: string;
  /** Its neighbours are what was said before and after it in the same session. */
  readonly session: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly at: number;
}

/** Something that was said, oldest first within a session, and questions with what answers them. */
export interface EvidenceSet {
  readonly name: string;
  readonly said: readonly Said[];
  readonly questions: readonly { readonly text: string /** Ids; never empty. */; readonly evidence: readonly string[] }[];
}

const turnMs = 600_000;

/**
 * The planted facts of `test/support/chat/recallCorpus.ts` in 2,000 turns, English and Chinese; evidence is where the newest value was
 * stated.
 */
export function plantedEvidence(seed: number): EvidenceSet[] {
  const { turns, facts } = recallCorpus({ seed, turns: 2_000, facts: 200, updated: 40 });
  const began = Date.UTC(2026, 0, 5, 8);
  const said = turns.flatMap(({ session, ...texts }, turn) =>
    (['user', 'assistant'] as const).map(
      (role): Said => ({ id: `t${turn}-${role}`, session: `s${session}`, role, text: texts[role], at: began + turn * turnMs }),
    ),
  );
  const questions = facts.map(({ question, values }) => {
    const stated = said.find(({ text }) => text.includes(values.at(-1)!));
    if (!stated) throw new Error(`The corpus does not state ${values.at(-1)}.`);
    return { text: question, evidence: [stated.id] };
  });
  const isChinese = ({ text }: { readonly text: string }) => /\p{Script=Han}/u.test(text);
  return [
    { name: 'planted facts, English', said, questions: questions.filter((question) => !isChinese(question)) },
    { name: 'planted facts, Chinese', said, questions: questions.filter(isChinese) },
  ];
}
