import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EntryContent } from '../../src/core/session/entry';
import { handoverPrograms, type HandoverProgram } from '../../src/core/transfer/handover/handoverPrograms';
import { UuidV7 } from '../../src/node/runtime/ids';
import { carryOut, prepareHandover } from '../../src/node/transfer/handover/handOver';
import { agentDrivers } from '../support/agents/agentDrivers';
import { RealAgent } from '../support/agents/agentRun';
import { ProviderDouble } from '../support/agents/providerDouble';
import { storedSession } from '../support/agents/handedSessions';
import { brief } from '../support/store/importRig';
import { WatchRig } from '../support/store/watchRig';

const said: readonly EntryContent[] = [
  { type: 'message', role: 'user', text: 'Which tide is it at zebraflag?' },
  { type: 'message', role: 'assistant', text: 'I look it up in the wombatkey table.' },
  { type: 'tool_call', callId: 'c1', name: 'read', input: { path: 'tides.md' } },
  { type: 'tool_call', callId: 'c2', name: 'read', input: { path: 'moon.md' } },
  { type: 'tool_result', callId: 'c1', name: 'read', text: 'numbat: high at noon', status: 'ok' },
  { type: 'tool_result', callId: 'c2', name: 'read', text: 'there is no koalasign', status: 'error' },
  { type: 'message', role: 'assistant', text: 'High at noon, says quokkamint.' },
];
const words = ['zebraflag', 'wombatkey', 'tides.md', 'numbat: high at noon', 'koalasign', 'quokkamint'];
const asked = 'And when is low tide?';
const answer = 'At six, by lemurglass.';

/** More than any of the programs is handed, in messages that differ. */
function longer({ tokens }: HandoverProgram): EntryContent[] {
  return Array.from({ length: Math.ceil(tokens / 200) }, (_, i) => ({
    type: 'message',
    role: i % 2 === 0 ? 'user' : 'assistant',
    text: `Message ${i}: the gate at port ${7000 + i} opens at ${i % 24} o'clock. ${'It is as it was said on the day before that one. '.repeat(22)}`,
  }));
}

for (const program of handoverPrograms) {
  describe(`a session that was handed over to the real ${program.id}`, function () {
    this.timeout(400_000);
    const driver = agentDrivers.find((one) => one.program === program.id)!;
    let make: Awaited<ReturnType<typeof RealAgent.install>>;
    let rig: WatchRig;
    let double: ProviderDouble;
    before(async function () {
      this.timeout(660_000);
      const installed = await RealAgent.tryInstall(driver);
      if (!installed) return this.skip();
      make = installed;
    });
    beforeEach(async () => {
      rig = await WatchRig.open();
      double = await ProviderDouble.start();
      double.respond = ({ tools }) => ({ text: tools.length === 0 ? 'A title' : answer });
    });
    afterEach(async () => {
      await double?.close();
      await rig?.close();
    });

    /** What the program's next request holds, when it goes on with what was handed over. */
    async function resumed(contents: readonly EntryContent[]) {
      const work = join(rig.home, 'work');
      mkdirSync(work);
      const agent = make({ home: rig.home, work, url: double.url });
      const session = await storedSession(rig.store, contents, work);
      const machine = { ...rig.machine, env: agent.env };
      const options = { store: rig.store, machine, now: Date.now(), folder: work, exportFolder: join(rig.home, 'out') };
      const handover = await prepareHandover(session, program, options);
      await carryOut(handover, session, rig.store, new UuidV7(), Date.now());
      const { file } = handover.files.at(-1)!;
      // All but the last command prepare it.
      for (const [, ...args] of handover.resume.slice(0, -1)) {
        const { code, stdout, stderr } = await agent.run(args);
        assert.equal(code, 0, `${stdout}\n${stderr}`);
      }
      const { code, stdout, stderr } = await agent.run(driver.resume({ id: handover.session, file }, asked));
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      const request = double.asked.find(({ tools, last }) => tools.length > 0 && last.text.includes(asked));
      assert.ok(request, `asked were ${double.asked.map(({ last }) => last.text).join('\n')}`);
      return { session, text: JSON.stringify(request.body) };
    }

    it('is resumed: its next request holds the history, and what is said there comes back to the same session', async () => {
      const { session, text } = await resumed(said);
      assert.deepEqual(
        words.filter((word) => !text.includes(word)),
        [],
      );
      await rig.start([program.id]);
      await rig.caughtUp();
      assert.deepEqual(
        (await rig.store.listSessions()).map(({ uuid }) => uuid),
        [session.uuid],
      );
      const rows = (await rig.store.liveBranch(session.uuid)).entries.filter(({ display }) => display).map(brief);
      assert.deepEqual(
        rows.filter((row) => /^(?:user|assistant): /.test(row)).map((row) => (row.includes(asked) ? `user: ${asked}` : row)),
        [...said.flatMap((one) => (one.type === 'message' ? [`${one.role}: ${one.text}`] : [])), `user: ${asked}`, `assistant: ${answer}`],
      );
    });

    it('is resumed folded where it is longer than it takes', async () => {
      const contents = longer(program);
      const { text } = await resumed(contents);
      const last = contents.at(-1) as { readonly text: string };
      assert.deepEqual(
        ['Passages of what was said before', last.text.trim()].map((one) => text.includes(one)),
        [true, true],
      );
    });
  });
}
