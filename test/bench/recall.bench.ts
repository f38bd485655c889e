import { readFile } from 'node:fs/promises';
import { plantedEvidence, type EvidenceSet } from './recall/evidence';
import { readLocomo } from './recall/locomo';
import { evidenceKept, evidenceShares, rankings, type EvidenceShares, type KeptShares } from './recall/rankings';

/** Of our own corpus: none of those that the ranking was tuned with. */
const seed = 21;

/**
 * How much of the evidence for a question stands among the first 5, 10, 25 and 50 results, and in what the recall tool returns within
 * 1,000, 2,000 and 4,000 tokens. `LOCOMO_FILE=…/locomo10.json` adds the conversations of that public file as one, with all of its questions
 * and with those that have an answer.
 */
export async function run(): Promise<unknown[]> {
  const file = process.env['LOCOMO_FILE'];
  const locomo = file ? await readFile(file, 'utf8') : null;
  const planted = plantedEvidence(seed).map((set) => ({ name: set.name, parts: [set] }));
  const sets: { readonly name: string; readonly parts: readonly EvidenceSet[] }[] = [
    ...planted,
    ...(locomo === null ? [] : (['all', 'answerable'] as const)).map((which) => {
      const parts = readLocomo(locomo ?? '', which);
      return { name: `LoCoMo, ${parts.length} conversations, ${which} questions`, parts };
    }),
  ];
  const rows: unknown[] = [];
  const kept: unknown[] = [];
  for (const { name: corpus, parts } of sets) {
    const shares = await Promise.all(parts.map(async (set) => ({ questions: set.questions.length, of: await evidenceKept(set) })));
    const mean = (k: keyof KeptShares) => meanOf(shares.map(({ questions, of }) => ({ questions, share: of[k] })));
    kept.push({
      corpus,
      ranking: 'what recall returns',
      'in 1000 tokens': mean('in 1000 tokens'),
      'in 2000 tokens': mean('in 2000 tokens'),
      'in 4000 tokens': mean('in 4000 tokens'),
    });
  }
  for (const { name: corpus, parts } of sets) {
    for (const [name, ranking] of Object.entries(rankings)) {
      const shares: { readonly questions: number; readonly of: EvidenceShares }[] = [];
      for (const { said, questions } of parts)
        shares.push({ questions: questions.length, of: await ranking(said, (asked) => evidenceShares(questions, asked)) });
      const questions = shares.reduce((sum, part) => sum + part.questions, 0);
      const mean = (k: keyof EvidenceShares) => meanOf(shares.map((part) => ({ questions: part.questions, share: part.of[k] })));
      rows.push({
        corpus,
        ranking: name,
        questions,
        'at 5': mean('at 5'),
        'at 10': mean('at 10'),
        'at 25': mean('at 25'),
        'at 50': mean('at 50'),
      });
    }
  }
  return [...rows, ...kept];
}

function meanOf(shares: readonly { readonly questions: number; readonly share: number }[]): number {
  const questions = shares.reduce((sum, part) => sum + part.questions, 0);
  return Math.round((shares.reduce((sum, part) => sum + part.share * part.questions, 0) / Math.max(1, questions)) * 1000) / 1000;
}
