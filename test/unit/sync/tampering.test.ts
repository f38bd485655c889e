import { deepStrictEqual, ok, throws } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { syncOnce, type SyncReport } from '../../../src/core/sync/exchange';
import type { SealedRecord } from '../../../src/core/sync/sealedRecord';
import { GcmSealer } from '../../../src/node/sync/gcmSealer';
import { historyKeys, newPhrase, PhraseError, readPhrase, phraseOf } from '../../../src/node/sync/historyKeys';
import { seededRandom } from '../../support/chat/endurance';
import { MemoryEngine } from '../../support/sync/memoryEngine';
import { MemoryReplica } from '../../support/sync/memoryReplica';

const entropy = readPhrase(newPhrase());
const keys = historyKeys(entropy, 'main');
const random = seededRandom(5);
const below = (limit: number) => Math.floor(random() * limit);

async function sync(replica: MemoryReplica, engine: MemoryEngine, history = keys): Promise<SyncReport> {
  return syncOnce({ replica, engine, sealer: new GcmSealer(history), newId: randomUUID });
}

/** A device's replica that has said so much, two sessions in turn, and has sent it. */
async function history(engine: MemoryEngine, device: string, records = 12, under = keys): Promise<MemoryReplica> {
  const replica = new MemoryReplica(device, () => 1);
  const sessions = [randomUUID(), randomUUID()];
  for (const session of sessions) replica.begin(session, null);
  for (let i = 0; i < records; i++) replica.say(sessions[i % 2]!, randomUUID(), `something ${i} of ${device}`);
  await sync(replica, engine, under);
  return replica;
}

type Rows = SealedRecord[];

/** Each changes a log from a place on, and what the engine says beside it. */
const kinds: Readonly<Record<string, (rows: Rows, at: number, engine: MemoryEngine, other: Rows) => void>> = {
  changed: (rows, at) => {
    const sealed = Buffer.from(rows[at]!.sealed);
    const byte = below(sealed.length);
    sealed[byte] = sealed[byte]! ^ (1 << below(8));
    rows[at] = { ...rows[at]!, sealed };
  },
  dropped: (rows, at) => void rows.splice(at, 1),
  'dropped and closed up': (rows, at) => {
    rows.splice(at, 1);
    for (let i = at; i < rows.length; i++) rows[i] = { ...rows[i]!, index: i };
  },
  reordered: (rows, at) => {
    const [one, two] = [rows[at]!, rows[at + 1]!];
    rows[at] = { ...two, index: at };
    rows[at + 1] = { ...one, index: at + 1 };
  },
  repeated: (rows, at) => {
    rows.splice(at + 1, 0, rows[at]!);
    for (let i = at + 1; i < rows.length; i++) rows[i] = { ...rows[i]!, index: i };
  },
  'moved from another log': (rows, at, _, other) => {
    rows[at] = { ...other[at]!, device: rows[at]!.device };
  },
  'given another name': (rows, at) => {
    rows[at] = { ...rows[at]!, id: randomUUID() };
  },
  'given another version': (rows, at) => {
    rows[at] = { ...rows[at]!, version: 2 };
  },
  'cut short': (rows, at) => {
    rows[at] = { ...rows[at]!, sealed: rows[at]!.sealed.subarray(0, below(rows[at]!.sealed.length)) };
  },
};

describe('sealed records', function () {
  this.timeout(60_000);
  for (const [name, tamper] of Object.entries(kinds)) {
    for (const marks of ['as they were', 'made to fit']) {
      it(`that were ${name}, marks ${marks}: 100 logs, all named, none merged`, async () => {
        const engine = new MemoryEngine();
        const origin = await history(engine, 'a');
        await history(engine, 'b');
        const sealer = new GcmSealer(keys);
        for (let round = 0; round < 100; round++) {
          const rows = [...engine.logs.get('a')!.values()];
          const at = below(rows.length - 2);
          const hostile = new MemoryEngine();
          tamper(rows, at, hostile, [...engine.logs.get('b')!.values()]);
          let mark = 0;
          const fitting = rows.map((row) => ({ ...row, mark: (mark = sealer.mark(mark, row)) }));
          await hostile.push(marks === 'as they were' ? rows : fitting, [...engine.wrapped.values()]);
          const fresh = new MemoryReplica('c', () => 1);
          const { problems } = await sync(fresh, hostile);
          const next = (await fresh.held()).logs.find(({ device }) => device === 'a')?.next ?? 0;
          const invented = fresh.state.tree.filter((line) => !origin.state.tree.includes(line));
          // A row that is repeated or closed up is noticed at the place where another one should stand.
          deepStrictEqual({ problems: problems.length, invented, isBefore: next <= at + 1 }, { problems: 1, invented: [], isBefore: true });
          ok(['damaged', 'missing'].includes(problems[0]!.kind), JSON.stringify(problems));
        }
      });
    }
  }

  it('of another history are refused, whose name or phrase it may be', async () => {
    for (const other of [historyKeys(entropy, 'other'), historyKeys(readPhrase(newPhrase()), 'main')]) {
      const engine = new MemoryEngine();
      await history(engine, 'a', 4, other);
      const fresh = new MemoryReplica('c', () => 1);
      const { problems } = await sync(fresh, engine);
      deepStrictEqual([problems.map(({ kind, index }) => [kind, index]), fresh.state.tree], [[['damaged', 0]], []]);
    }
  });

  it('whose keys were exchanged: 100 times named, nothing of the session merged', async () => {
    for (let round = 0; round < 100; round++) {
      const engine = new MemoryEngine();
      await history(engine, 'a', 4);
      const [one, two] = [...engine.wrapped.keys()] as [string, string];
      engine.wrapped.set(one, { id: one, wrapped: engine.wrapped.get(two)!.wrapped });
      const fresh = new MemoryReplica('c', () => 1);
      const { problems } = await sync(fresh, engine);
      deepStrictEqual([problems.map(({ kind }) => kind), fresh.entries.size], [['key_refused'], 2]);
    }
  });

  it('whose engine was put back to an earlier state get what it has lost again', async () => {
    const engine = new MemoryEngine();
    const origin = await history(engine, 'a');
    const before = [...engine.logs.get('a')!.values()].slice(0, 5);
    const fresh = new MemoryReplica('c', () => 1);
    await sync(fresh, engine);
    const restored = new MemoryEngine();
    await restored.push(before, []);
    const { refilled, problems } = await sync(fresh, restored);
    await sync(origin, restored);
    const third = new MemoryReplica('d', () => 1);
    await sync(third, restored);
    deepStrictEqual([refilled > 0, problems, third.state], [true, [], origin.state]);
  });

  it('of a store that was copied or put back go on under another name, and nothing of either is lost', async () => {
    const engine = new MemoryEngine();
    const origin = await history(engine, 'a', 4);
    const copy = new MemoryReplica('a', () => 1);
    // The copy has the first rows, as a backup of that time would.
    const rows = await origin.rows({ device: 'a', from: 0, to: 8 });
    const sessionKeys = await origin.keys('all');
    const sealer = new GcmSealer(keys, sessionKeys);
    const opened = rows.map((row) => ({ row, opened: sealer.open(row) }));
    await copy.receive(
      opened.map(({ row, opened: one }) => ({ row, change: one.kind === 'change' ? one.change : null })),
      sessionKeys,
    );
    const [session] = [...origin.sessions.keys()];
    copy.say(session!, randomUUID(), 'said in the copy');
    origin.say(session!, randomUUID(), 'said in the original');
    await sync(origin, engine);
    const report = await sync(copy, engine);
    await sync(origin, engine);
    deepStrictEqual([report.renewed, report.problems, copy.state], [true, [], origin.state]);
    ok(
      origin.state.tree.some((line) => line.includes('said in the copy')) && copy.state.tree.some((line) => line.includes('the original')),
    );
  });
});

describe('recovery phrases', () => {
  it('have 24 words, and say what is wrong with one that is not', () => {
    const phrase = newPhrase();
    const words = phrase.split(' ');
    deepStrictEqual([words.length, phraseOf(readPhrase(`  ${phrase.toUpperCase()}\n`))], [24, phrase]);
    throws(() => readPhrase(words.slice(1).join(' ')), /has 24 words; this one has 23/);
    throws(() => readPhrase(['threadkeeper', ...words.slice(1)].join(' ')), /Word 1 of the recovery phrase, "threadkeeper"/);
    throws(() => readPhrase([...words.slice(0, 22), words[23], words[22] === words[23] ? 'zoo' : words[22]].join(' ')), PhraseError);
  });
});
