import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../src/core/ports';
import type { StoredEntry } from '../../src/core/session/entry';
import { agentDrivers, type AgentDriver } from '../support/agents/agentDrivers';
import { RealAgent } from '../support/agents/agentRun';
import { ProviderDouble } from '../support/agents/providerDouble';
import { sourcesOf, stands } from '../support/agents/sourceFiles';
import { ImportRig } from '../support/store/importRig';
import { WatchRig } from '../support/store/watchRig';
import { waitFor } from '../support/waitFor';

const asked = 'Put the word quokkamint into note.txt.';
const said = 'The word wombatkey is what I have to say of it.';

for (const driver of agentDrivers) {
  describe(`${driver.program}, the real program`, function () {
    this.timeout(240_000);
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

    // It has never been started before: what is watched is not there yet.
    it('is followed from its first turn on, and imported as it has been followed', async () => {
      const work = join(rig.home, 'work');
      mkdirSync(work);
      const file = join(work, 'note.txt');
      const agent = make({ home: rig.home, work, url: double.url });
      const call = driver.write(file, 'quokkamint');
      double.respond = ({ tools, last }) => {
        if (tools.length === 0) return { text: 'A title' };
        return last.by === 'tool' ? { text: said } : { call };
      };
      await rig.start([driver.program], null, {});
      const lags = Promise.all([asked, said].map((text) => lagOf(text, driver, rig)));
      const run = await agent.turn(asked);
      assert.deepEqual([run.code, readFileSync(file, 'utf8')], [0, 'quokkamint'], `${run.stdout}\n${run.stderr}`);
      console.log(`      from its file to the store: question ${(await lags).map((ms) => `${ms} ms`).join(', answer ')}`);

      await rig.caughtUp();
      assert.deepEqual(
        rig.watch!.status().map(({ id, sources, problems }) => ({ id, sources, problems })),
        [{ id: driver.program, sources: 1, problems: [] }],
      );
      const expected = [
        `user: ${asked}`,
        `call ${call.name} ${JSON.stringify(call.input)}`,
        `result ${call.name} ok`,
        `assistant: ${said}`,
      ];
      assert.deepEqual(await conversationIn(rig.store), expected);

      const sources = sourcesOf(driver.program, rig.machine);
      const fresh = await ImportRig.open();
      try {
        const { failed, sessions } = await fresh.import(sources);
        assert.deepEqual(
          [failed, sessions.map(({ outcome, repaired }) => ({ outcome, repaired }))],
          [[], [{ outcome: 'new', repaired: [] }]],
        );
        assert.deepEqual(await conversationIn(fresh.store), expected);
        assert.deepEqual(added(await fresh.import(sources)), [0]);
      } finally {
        await fresh.close();
      }
    });
  });
}

function added({ sessions }: Awaited<ReturnType<ImportRig['import']>>): number[] {
  return sessions.map(({ entriesAdded }) => entriesAdded);
}

/** What is shown of the only session. Some programs put the question between marks or beside other things. */
async function conversationIn(store: SessionStore): Promise<string[]> {
  const [session, ...others] = await store.listSessions();
  assert.deepEqual(others, []);
  return (await store.liveBranch(session!.uuid)).entries.filter(({ display }) => display).flatMap(spoken);
}

function spoken({ content }: StoredEntry): string[] {
  switch (content.type) {
    case 'message':
      return [`${content.role}: ${content.role === 'user' && content.text.includes(asked) ? asked : content.text}`];
    case 'tool_call':
      return [`call ${content.name} ${JSON.stringify(content.input)}`];
    case 'tool_result':
      return [`result ${content.name} ${content.status}`];
    default:
      return [];
  }
}

/** Milliseconds from the moment when a text stands in the program's files until it is in the store. */
async function lagOf(text: string, { program }: AgentDriver, rig: WatchRig): Promise<number> {
  const fine = { interval: 5, timeout: 120_000 };
  await waitFor(`${program} to write "${text}"`, () => stands(text, program, rig.machine), fine);
  const written = performance.now();
  await waitFor(`"${text}" in the store`, async () => (await rig.texts()).some((one) => one.includes(text)), fine);
  return Math.round(performance.now() - written);
}
