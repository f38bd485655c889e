import { writeSync } from 'node:fs';
import { openStore } from '../../../src/node/store/client/openStore';
import { userMessage, workerFile } from '../store/storeTemp';

/** What a window tells, a line of JSON each, written at once. */
export type WindowReport =
  | { readonly type: 'open' | 'closed' }
  | { readonly type: 'turn'; readonly ms: number; readonly entries: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string };

/** Pieces of an answer that are written while it grows. */
const pieces = 10;

const report = (line: WindowReport) => writeSync(1, `${JSON.stringify(line)}\n`);
const [folder = ''] = process.argv.slice(2);

/** A window of its own process, with the store in its worker: a turn for each byte of the standard input, until that ends. */
async function main(): Promise<void> {
  const store = await openStore({ folder, workerFile, waitForOwnerMs: 10_000, label: `window ${process.pid}` });
  const session = `own-${process.pid}`;
  await store.createSession({ uuid: session, key: `cli:${session}`, channel: 'cli', createdAt: Date.now() });
  report({ type: 'open' });
  let turns = 0;
  const turn = async () => {
    const began = performance.now();
    const claim = `${process.pid}-${turns++}`;
    if (!(await store.claim(session, claim)).granted) throw new Error('Its own session is claimed by somebody else.');
    const entries: string[] = [];
    let parent = (await store.session(session))!.leaf;
    for (const part of ['question', 'answer']) {
      const uuid = `${claim}-${part}`;
      const chunk = { entry: uuid, session, parent, kind: 'message', provider: 'p', model: 'm', createdAt: Date.now() } as const;
      for (let i = 0; i < pieces; i++) await store.writePartial({ ...chunk, text: 'abc', offset: i * 3 });
      await store.append(session, { entries: [userMessage(session, parent, `${part} ${claim} numbat`, { uuid })], after: parent });
      entries.push(uuid);
      parent = uuid;
    }
    await store.release(session, claim);
    report({ type: 'turn', ms: performance.now() - began, entries });
  };
  for await (const bytes of process.stdin) for (let i = 0; i < (bytes as Buffer).length; i++) await turn();
  await store.close();
  report({ type: 'closed' });
}

main().catch((error: unknown) => {
  report({ type: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.exitCode = 1;
});
