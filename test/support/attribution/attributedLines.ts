import type { SessionStore } from '../../../src/core/ports';
import { whyLine } from '../../../src/node/attribution/whyLine';
import type { AttributedRepository, LineToAsk } from './attributedRepository';

export interface Attributed {
  /** Lines of tools that are not blank: one may be led to its call, and must not be led to another. */
  readonly written: number;
  /** Of those, the ones that are led to the call which wrote them. */
  readonly right: number;
  /** Lines that are led to a call which did not write them. */
  readonly wrong: readonly string[];
  readonly missed: readonly string[];
  /** Milliseconds that each answer took. */
  readonly times: readonly number[];
}

/** Asks about each of the lines, and compares with what is known of them. */
export async function attribute(store: SessionStore, repository: AttributedRepository, lines: readonly LineToAsk[]): Promise<Attributed> {
  const wrong: string[] = [];
  const missed: string[] = [];
  const times: number[] = [];
  let [written, right] = [0, 0];
  for (const { owner, ...asked } of lines) {
    const asking = performance.now();
    const { edits } = await whyLine(store, { ...asked, folder: repository.folder }, new AbortController().signal);
    times.push(performance.now() - asking);
    const found = edits.length === 1 ? edits[0]!.edit.uuid : null;
    const text = `${asked.file}:${asked.line + 1} ${JSON.stringify(asked.text.split('\n')[asked.line])} is of ${owner}, said: ${edits.map(({ edit }) => edit.uuid).join(' or ')}`;
    const isBlank = asked.text.split('\n')[asked.line]!.trim() === '';
    if (owner !== null && !isBlank) written++;
    if (found === owner && owner !== null) right += isBlank ? 0 : 1;
    else if (found !== null) wrong.push(text);
    else if (owner !== null && !isBlank) missed.push(text);
  }
  return { written, right, wrong, missed, times };
}
