import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { SessionStore } from '../../../src/core/ports';
import type { EntryContent, NewEntry, StoredEntry } from '../../../src/core/session/entry';
import type { Session } from '../../../src/core/session/session';
import { opencodeEvents } from '../../../src/core/transfer/formats/opencode';
import { geminiEvents } from '../../../src/core/transfer/formats/gemini';
import type { HandedHistory } from '../../../src/core/transfer/handover/handedHistory';
import type { HandoverFile, HandoverInput } from '../../../src/core/transfer/handover/handoverFile';
import type { HandoverProgramId } from '../../../src/core/transfer/handover/handoverPrograms';
import type { SourceEvent } from '../../../src/core/transfer/sourceRecord';
import { lineFormats, type LineFormat } from '../../../src/node/transfer/foreign/readJsonLines';
import { testUuid, userMessage } from '../store/storeTemp';

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('', ' ', '\n', 'a\0b', '\ud800', 'Which tide?', '# AGENTS.md', '🌊'));
const callId = fc.constantFrom('c1', 'c2', 'toolu.x|1', 'c'.repeat(80));

/** What may stand in a branch, in whatever order: also what no provider would take. */
export const contents: fc.Arbitrary<readonly EntryContent[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ type: fc.constant('message' as const), role: fc.constantFrom('user' as const, 'assistant' as const), text }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('tool_call' as const),
        callId,
        name: fc.constantFrom('read', 'run command', ''),
        input: fc.oneof(fc.record({ path: text }), fc.constant(null), fc.constant([1, 'a'])),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('tool_result' as const),
        callId,
        name: fc.constant('read'),
        text,
        status: fc.constantFrom('ok' as const, 'error' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('thinking' as const), text }) },
  ),
  { minLength: 1, maxLength: 25 },
);

export function branchOf(all: readonly EntryContent[], session = 's'): StoredEntry[] {
  let parent: string | null = null;
  return all.map((content, seq) => {
    const entry: NewEntry = userMessage(session, parent, '', { content });
    parent = entry.uuid;
    return { ...entry, seq };
  });
}

/** A session of the store that says all of this. */
export async function storedSession(store: SessionStore, all: readonly EntryContent[], cwd: string): Promise<Session> {
  const { uuid } = await store.createSession({
    uuid: testUuid(),
    key: `chat:${randomUUID()}`,
    channel: 'vscode',
    cwd,
    createdAt: 1_763_000_000_000,
  });
  await store.updateSession(uuid, { title: 'Tides' });
  await store.append(uuid, { entries: branchOf(all, uuid) });
  return (await store.session(uuid))!;
}

export function handoverInput(history: HandedHistory): HandoverInput {
  return {
    history,
    session: randomUUID(),
    cwd: '/w/tides',
    title: 'Tides',
    now: 1_763_900_000_000,
    project: { slug: 'tides', hash: 'h' },
    model: null,
    id: randomUUID,
  };
}

/** What the importer of the program's format finds in a file. */
export function readBack(program: HandoverProgramId, { text: written }: HandoverFile): SourceEvent[] {
  const hashOf = () => 'h';
  if (program === 'gemini') return geminiEvents(written, { cwd: '/w/tides', fallbackId: 'f' }, hashOf);
  if (program === 'opencode') return opencodeEvents(...opencodeRows(written), hashOf);
  const reader: LineFormat = lineFormats[program]();
  const events = written
    .trimEnd()
    .split('\n')
    .flatMap((line, i) => reader.read(JSON.parse(line), i, 'h', 'f'));
  return [...events, ...(reader.release?.() ?? [])];
}

/** The rows that `opencode import` makes of a file. */
export function opencodeRows(written: string): [Record<string, unknown>, Record<string, unknown>[], Record<string, unknown>[]] {
  const { info, messages } = JSON.parse(written) as {
    info: { id: string; directory: string; title: string; time: { created: number } };
    messages: { info: { id: string; sessionID?: string }; parts: { id: string; messageID?: string; sessionID?: string }[] }[];
  };
  return [
    { id: info.id, directory: info.directory, title: info.title, time_created: info.time.created },
    messages.map(({ info: { id, sessionID: _, ...data } }) => ({ id, session_id: info.id, data: JSON.stringify(data) })),
    messages.flatMap(({ info: { id: message }, parts }) =>
      parts.map(({ id, messageID: _m, sessionID: _s, ...data }) => ({
        id,
        message_id: message,
        session_id: info.id,
        data: JSON.stringify(data),
      })),
    ),
  ];
}
