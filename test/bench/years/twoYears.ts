import { programs } from '../../../src/core/transfer/programs';
import type { EntryContent, NewEntry } from '../../../src/core/session/entry';
import { seededRandom } from '../../support/chat/endurance';
import { testUuid } from '../../support/store/storeTemp';
import type { BenchStore } from '../store/benchStore';
import { prose } from '../store/prose';

const day = 86_400_000;
const end = Date.UTC(2026, 10, 22);
const sources = programs.slice(0, 12);

export interface Years {
  readonly sessions: readonly string[];
  /** The session with most entries. */
  readonly longest: string;
  readonly characters: number;
}

/**
 * What two years of work leave: sessions of this program and of twelve others, day by day, a few of them very long, with the sizes that
 * agents write: two thirds of the entries are calls and their results, and these are most of the bytes. The same for the same seed.
 */
export function writeYears(store: BenchStore, entries: number, seed = 1): Years {
  const random = seededRandom(seed);
  const between = (low: number, high: number) => Math.round(low * (high / low) ** random());
  const sessions: string[] = [];
  let characters = 0;
  let longest = { uuid: '', length: 0 };
  for (let left = entries, n = 0; left > 0; n++) {
    // Every fortieth is one that somebody stays in for weeks.
    const length = Math.min(left, n % 40 === 0 ? between(400, Math.max(401, entries / 10)) : between(6, 150));
    left -= length;
    const at = end - Math.round((left / entries) * 730 * day);
    const program = n % 3 === 0 ? null : sources[n % sources.length]!;
    const uuid = testUuid();
    const key = program ? `import:${program.id}:${n}` : `vscode:${n}`;
    const title = prose(40);
    store.core.createSession({
      uuid,
      key,
      channel: program ? 'import' : 'vscode',
      title,
      createdAt: at,
      cwd: `/home/user/project-${n % 9}`,
    });
    sessions.push(uuid);
    if (length > longest.length) longest = { uuid, length };
    let parent: string | null = null;
    for (let done = 0; done < length; ) {
      const batch: NewEntry[] = [];
      for (; batch.length < 200 && done < length; done++) {
        const content = entryOf(done, between);
        const size = 'text' in content ? content.text.length : 40;
        characters += size;
        const entry: NewEntry = {
          uuid: testUuid(),
          session: uuid,
          parent,
          createdAt: at + done * 1_000,
          modelFacing: true,
          display: true,
          tokenEstimate: Math.ceil(size / 4),
          content,
        };
        batch.push(entry);
        parent = entry.uuid;
      }
      store.core.append(uuid, { entries: batch });
    }
  }
  return { sessions, longest: longest.uuid, characters };
}

/** A question, an answer, and two calls with their results between them. */
function entryOf(i: number, between: (low: number, high: number) => number): EntryContent {
  const by = { provider: 'anthropic', model: 'claude-sonnet' };
  const callId = `call-${Math.floor(i / 2)}`;
  switch (i % 6) {
    case 0:
      return { type: 'message', role: 'user', text: prose(between(40, 3_000)) };
    case 5:
      return { type: 'message', role: 'assistant', text: prose(between(200, 12_000)), ...by };
    case 1:
    case 3:
      return { type: 'tool_call', callId, name: 'read_file', input: { path: `src/${prose(12)}.ts` }, ...by };
    default:
      return {
        type: 'tool_result',
        callId: `call-${Math.floor((i - 1) / 2)}`,
        name: 'read_file',
        status: 'ok',
        text: prose(between(1_500, 150_000)),
      };
  }
}
