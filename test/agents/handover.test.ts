import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EntryContent } from '../../src/core/session/entry';
import type { Session } from '../../src/core/session/session';
import { handoverPrograms, type HandoverProgram } from '../../src/core/transfer/handover/handoverPrograms';
import { UuidV7 } from '../../src/node/runtime/ids';
import { carryOut, prepareHandover } from '../../src/node/transfer/handover/handOver';
import { agentDrivers, type AgentDriver } from '../support/agents/agentDrivers';
import { RealAgent } from '../support/agents/agentRun';
import { ProviderDouble } from '../support/agents/providerDouble';
import { storedSession } from '../support/agents/handedSessions';
import { WatchRig } from '../support/store/watchRig';

const said: readonly EntryContent[] = [
  { type: 'message', role: 'user', text: 'Which tide is it? Say quokkamint.' },
  { type: 'message', role: 'assistant', text: 'I look it up in zebraflag.' },
  { type: 'tool_call', callId: 'call_a', name: 'read_file', input: { path: 'wombatkey.md' } },
  { type: 'tool_call', callId: 'call_b', name: 'read_file', input: { path: 'moon.md' } },
  { type: 'tool_result', callId: 'call_a', name: 'read_file', text: 'high at noon, says emutoken', status: 'ok' },
  { type: 'tool_result', callId: 'call_b', name: 'read_file', text: 'there is no koalasign', status: 'error' },
  { type: 'message', role: 'assistant', text: 'High at noon, by platyword.' },
];
/** In the order in which they are said. */
const words = ['quokkamint', 'zebraflag', 'wombatkey', 'emutoken', 'koalasign', 'platyword', 'dingoask'];

for (const program of handoverPrograms) {
  const driver = agentDrivers.find((one) => one.program === program.id)!;
  describe(`${program.id}, the real program`, function () {
    this.timeout(300_000);
    let make: Awaited<ReturnType<typeof RealAgent.install>>;
    let rig: WatchRig;
    let double: ProviderDouble;
    before(async function () {
      this.timeout(660_000);
      const installed = await RealAgent.tryInstall(driver);
      if (!installed) return this.skip();
      make = installed;
      rig = await WatchRig.open();
      double = await ProviderDouble.start();
    });
    after(async () => {
      await double?.close();
      await rig?.close();
    });

    it('goes on with a session that it was handed, and what is said there comes back to it', async () => {
      const work = join(rig.home, 'work');
      mkdirSync(work);
      const agent = make({ home: rig.home, work, url: double.url });
      double.respond = ({ tools }) => ({ text: tools.length === 0 ? 'A title' : 'Low at six, by cassoword.' });
      const session = await storedSession(rig.store, said, work);
      const handed = await handOver(rig, program, session);
      const run = await resume(agent, driver, handed, 'And low tide? Say dingoask.');
      assert.equal(run.code, 0, `${run.stdout}\n${run.stderr}`);
      const request = double.asked.find(({ body }) => JSON.stringify(body).includes('dingoask'));
      const sent = JSON.stringify(request?.body ?? {});
      // The programs quote the question in other requests, and may name the folder of the file in this one.
      assert.deepEqual(
        words.map((word) => [word, sent.includes(word)]),
        words.map((word) => [word, true]),
      );
      const places = words.map((word) => sent.lastIndexOf(word));
      assert.deepEqual(
        places,
        [...places].sort((a, b) => a - b),
        sent,
      );

      await rig.start([program.id], null, {});
      await rig.caughtUp();
      assert.deepEqual(
        (await rig.store.listSessions()).map(({ uuid }) => uuid),
        [session.uuid],
      );
      const shown = (await rig.store.liveBranch(session.uuid)).entries.flatMap(({ content, display }) =>
        display && content.type === 'message' ? [`${content.role}: ${content.text}`] : [],
      );
      assert.deepEqual(
        [shown.length, shown.slice(0, 3), shown[3]!.includes('dingoask'), shown[4]],
        [
          5,
          said.flatMap((one) => (one.type === 'message' ? [`${one.role}: ${one.text}`] : [])),
          true,
          'assistant: Low at six, by cassoword.',
        ],
        shown.join('\n'),
      );
    });
  });
}

interface Handed {
  readonly id: string;
  readonly file: string;
}

async function handOver(rig: WatchRig, program: HandoverProgram, session: Session): Promise<Handed> {
  const now = Date.now();
  const options = { store: rig.store, machine: rig.machine, now, folder: rig.home, exportFolder: join(rig.home, 'out') };
  const prepared = await prepareHandover(session, program, options);
  await carryOut(prepared, session, rig.store, new UuidV7(), now);
  return { id: prepared.session, file: prepared.files.at(-1)!.file };
}

async function resume(agent: RealAgent, driver: AgentDriver, handed: Handed, prompt: string): ReturnType<RealAgent['run']> {
  if (driver.program === 'opencode') {
    const imported = await agent.run(['import', handed.file]);
    assert.equal(imported.code, 0, `${imported.stdout}\n${imported.stderr}`);
  }
  return agent.run(driver.resume(handed, prompt));
}
