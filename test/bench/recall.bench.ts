import { readFile } from 'node:fs/promises';
import { plantedEvidence, type EvidenceSet } from './recall/evidence';
import { readLocomo } from './recall/locomo';
import { evidenceShares, rankings, type EvidenceShares } from './recall/rankings';

/** Of our own corpus: none of those that the ranking was tuned with. */
const seed = 21;

/**
 * How much of the evidence for a question stands among the first 5, 10, 25 and 50 results. `LOCOMO_FILE=…/locomo10.json` adds the
 * conversations of that public file, all of them as one row.
 */
export async function run(): Promise<unknown[]> {
  const file = process.env['LOCOMO_FILE'];
  const sets: EvidenceSet[][] = [...plantedEvidence(seed).map((set) => [set]), ...(file ? [readLocomo(await readFile(file, 'utf8'))] : [])];
  const rows: unknown[] = [];
  for (const parts of sets) {
    for (const [name, ranking] of Object.entries(rankings)) {
      const shares: { readonly questions: number; readonly of: EvidenceShares }[] = [];
      for (const { said, questions } of parts)
        shares.push({ questions: questions.length, of: await ranking(said, (asked) => evidenceShares(questions, asked)) });
      const questions = shares.reduce((sum, part) => sum + part.questions, 0);
      const mean = (k: keyof EvidenceShares) =>
        Math.round((shares.reduce((sum, part) => sum + part.of[k] * part.questions, 0) / Math.max(1, questions)) * 1000) / 1000;
      rows.push({
        corpus: parts.length === 1 ? parts[0]!.name : `LoCoMo, ${parts.length} conversations`,
        ranking: name,
        questions,
        'at 5': mean('at 5'),
        'at 10': mean('at 10'),
        'at 25': mean('at 25'),
        'at 50': mean('at 50'),
      });
    }
  }
  return rows;
}
