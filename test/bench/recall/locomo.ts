import * as z from 'zod/mini';
import type { EvidenceSet, Said } from './evidence';

/** One conversation of the public LoCoMo file (`locomo10.json`), as far as it is used here. */
const Sample = z.object({
  sample_id: z.optional(z.string()),
  conversation: z.record(z.string(), z.unknown()),
  qa: z.array(z.object({ question: z.string(), evidence: z.optional(z.array(z.string())), category: z.optional(z.number()) })),
});
const Turns = z.array(z.object({ speaker: z.string(), dia_id: z.string(), text: z.string(), blip_caption: z.optional(z.string()) }));

/** Questions of it that have no answer: what is named as their evidence is what they twist. */
const unanswerable = 5;
const months = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];

/**
 * The conversations of a LoCoMo file, each a set of its own. Both speakers are people: all of it is said by users. Evidence that is
 * not in the conversation is left out, and so are questions without any. Published figures are of `all` questions or of the answerable
 * ones. Rejects what has another form, with the place.
 */
export function readLocomo(json: string, which: 'all' | 'answerable' = 'answerable'): EvidenceSet[] {
  const samples = z.array(Sample).parse(JSON.parse(json));
  return samples.map(({ sample_id: id, conversation, qa }, index) => {
    const numbers = Object.keys(conversation)
      .flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? [])
      .map(Number);
    const said = numbers
      .sort((a, b) => a - b)
      .flatMap((number) => {
        const began = parseTime(conversation[`session_${number}_date_time`]);
        return Turns.parse(conversation[`session_${number}`]).map(
          (turn, order): Said => ({
            id: turn.dia_id,
            session: `session ${number}`,
            role: 'user',
            text: `${turn.speaker}: ${turn.text}${turn.blip_caption ? ` [picture: ${turn.blip_caption}]` : ''}`,
            at: began + order * 60_000,
          }),
        );
      });
    const known = new Set(said.map((one) => one.id));
    const questions = qa.flatMap(({ question, evidence = [], category }) => {
      // Some name several in one string.
      const ids = [...new Set(evidence.flatMap((one) => one.split(/[\s,;]+/)))].filter((one) => known.has(one));
      return ids.length === 0 || (which === 'answerable' && category === unanswerable) ? [] : [{ text: question, evidence: ids }];
    });
    return { name: id ?? `conversation ${index + 1}`, said, questions };
  });
}

/** `1:56 pm on 8 May, 2023`; 0 for what is not of that form. */
function parseTime(value: unknown): number {
  const found = /^(\d+):(\d+) ([ap])m on (\d+) (\w+),? (\d{4})$/i.exec(String(value).trim());
  if (!found) return 0;
  const [, hour, minute, half, day, month, year] = found;
  const hours = (Number(hour) % 12) + (half!.toLowerCase() === 'p' ? 12 : 0);
  return new Date(Number(year), months.indexOf(month!.toLowerCase()), Number(day), hours, Number(minute)).getTime();
}
