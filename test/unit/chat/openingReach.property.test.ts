import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BranchState } from '../../../src/core/chat/branchState';
import { exclusionContent } from '../../../src/core/context/contextExclusion';
import { ContextEngine } from '../../../src/core/context/engine';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import type { SessionStore } from '../../../src/core/ports';
import { entryText, type EntryContent, type NewEntry } from '../../../src/core/session/entry';
import { attemptDiscarded, liveCompaction } from '../../../src/core/session/liveCompaction';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { systemClock } from '../../../src/node/runtime/systemClock';
import { compactionContent } from '../../support/chat/compactionContent';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says, ScriptedModel } from '../../support/chat/scriptedModel';
import { openTestStore, tempFolder, testUuid, type TempFolder } from '../../support/store/storeTemp';

type Said =
  | { readonly say: 'user' | 'assistant' | 'thinking'; readonly text: string }
  | { readonly say: 'call' | 'exclude' | 'discard' | 'compact' | 'undo'; readonly text: string; readonly pick: number };

const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constant('long '.repeat(400)));
const said: fc.Arbitrary<Said> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ say: fc.constantFrom('user' as const, 'assistant' as const, 'thinking' as const), text }) },
  {
    weight: 4,
    arbitrary: fc.record({
      say: fc.constantFrom('call' as const, 'exclude' as const, 'discard' as const, 'compact' as const, 'undo' as const),
      text,
      pick: fc.nat(100),
    }),
  },
);

describe('a session that is opened from its end', () => {
  let temp: TempFolder;
  let store: SessionStore;
  before(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
    await store.saveCalibration({ model: 'scripted/scripted-1', kind: 'prompt', factor: 1.2, n: 3 });
  });
  after(async () => {
    await store.close();
    temp.remove();
  });

  it('has the sizes of its whole branch with the outline, and sends the very request that the whole branch makes', async function () {
    this.timeout(60_000);
    const property = fc.asyncProperty(
      fc.array(said, { minLength: 1, maxLength: 30 }),
      fc.nat(3_000),
      fc.boolean(),
      async (script, texts, counted) => {
        const session = await written(store, script, counted);
        const whole = await opened(store, session);
        const part = await opened(store, session, texts);
        assert.deepEqual(part.branch.entries, whole.branch.entries.slice(-part.branch.entries.length));
        await part.branch.outline();
        assert.deepEqual(
          part.branch.entries.map(({ uuid }) => uuid),
          whole.branch.entries.map(({ uuid }) => uuid),
        );
        assert.deepEqual(liveCompaction(part.branch.entries), liveCompaction(whole.branch.entries));
        await Promise.all([whole.branch.settleCounts(), part.branch.settleCounts()]);
        for (const { engine } of [whole, part]) engine.recounted();
        assert.deepEqual(part.engine.snapshot(1), whole.engine.snapshot(1));
        assert.deepEqual(part.engine.breakdown(50), whole.engine.breakdown(50));
        await part.branch.whole();
        const settled = await opened(store, session);
        assert.deepEqual(withoutCounts(part.branch), withoutCounts(settled.branch));
        assert.equal(JSON.stringify(await part.engine.request()), JSON.stringify(await whole.engine.request()));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it('takes a message at once, reads the rest before it asks, and sends what a window that had read all of it sends', async () => {
    const requests = await Promise.all(
      [false, true].map(async (isRead) => {
        const rig = await ConversationRig.create({ window: 2_000_000, counts: 100 });
        try {
          rig.autoCompact = false;
          let parent: string | null = null;
          for (let i = 0; i < 20; i++) {
            const role = i % 2 === 0 ? ('user' as const) : ('assistant' as const);
            const entry = entryOf(rig.session, parent, { type: 'message', role, text: `${i} ${'word '.repeat(12_000)}` }, `${i}`);
            await rig.store.append(rig.session, { entries: [entry] });
            parent = entry.uuid;
          }
          await rig.reopen();
          await rig.until(() => rig.conversation.entries.length === 20);
          assert.deepEqual(rig.conversation.entries.map(({ content }) => entryText(content) === '…').slice(0, 4), [
            true,
            true,
            true,
            false,
          ]);
          if (isRead) await rig.conversation.whole();
          rig.model.scripts.push(says('Yes.'));
          const { error } = await rig.conversation.send('Is it all there?');
          assert.equal(error, null);
          return rig.model.requests
            .at(-1)!
            .messages.map(({ role, blocks }) => ({ role, blocks: blocks.map((one) => ('text' in one ? one.text : one)) }));
        } finally {
          await rig.dispose();
        }
      }),
    );
    assert.equal(requests[0]!.length, 21);
    assert.deepEqual(requests[0]!.slice(0, 20), requests[1]!.slice(0, 20));
  });
});

/** What was counted is in the row only when it was counted before it was read. */
function withoutCounts({ entries }: BranchState): unknown {
  return entries.map((entry) => ({ ...entry, tokenEstimate: null }));
}

async function opened(store: SessionStore, session: string, texts?: number) {
  const counter = { count: async (all: readonly string[]) => all.map(estimateTokens) };
  const reach = texts === undefined ? undefined : { texts, outline: false };
  const branch = await BranchState.load({ store, counter, clock: systemClock, ids: new UuidV7() }, session, reach);
  const client = new ScriptedModel({ window: 1_500, maxOutput: 100 });
  const { policy } = resolvePolicy('balanced');
  const binding = { client, info: await client.describe('scripted-1'), summarizer: null };
  const engine = new ContextEngine(branch, store, counter, { system: 'Be brief.', tools: [] }, policy, binding);
  // Of a model of which nothing is known yet, the scripts in what has been read tell how many tokens it makes of ours.
  await engine.use(binding, policy);
  return { branch, engine };
}

/** The session in which this was said. */
async function written(store: SessionStore, script: readonly Said[], counted: boolean): Promise<string> {
  const { uuid: session } = await store.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 });
  const entries: NewEntry[] = [];
  const add = (content: EntryContent) => {
    const entry = entryOf(session, entries.at(-1)?.uuid ?? null, content);
    entries.push(counted ? { ...entry, tokenEstimate: estimateTokens(entryText(content)) } : entry);
  };
  const compactions: string[] = [];
  for (const [i, one] of script.entries()) {
    const picked = 'pick' in one ? entries[one.pick % Math.max(1, entries.length)]?.uuid : undefined;
    switch (one.say) {
      case 'user':
      case 'assistant':
        add({ type: 'message', role: one.say, text: one.text });
        break;
      case 'thinking':
        add({ type: 'thinking', text: one.text, model: 'scripted-1', signature: 'signed' } as EntryContent);
        break;
      case 'call':
        add({ type: 'tool_call', callId: `c${i}`, name: 'dump', input: { text: one.text } });
        add({ type: 'tool_result', callId: `c${i}`, name: 'dump', text: one.text, status: 'ok' });
        break;
      case 'exclude':
        if (picked) add(exclusionContent({ entries: [picked], excluded: one.pick % 3 > 0, tokensAfter: 1 }));
        break;
      case 'discard':
        if (picked) add({ type: 'custom', customType: attemptDiscarded, data: { entries: [picked] } });
        break;
      case 'compact':
        add({ ...compactionContent(testUuid(), picked ?? null), summaryText: `what was: ${one.text}` });
        compactions.push(entries.at(-1)!.uuid);
        break;
      case 'undo':
        if (compactions.length > 0)
          add({ type: 'compaction_undone', target: compactions[one.pick % compactions.length]!, tokensRestored: 1 });
        break;
    }
  }
  if (entries.length > 0) await store.append(session, { entries });
  return session;
}

function entryOf(session: string, parent: string | null, content: EntryContent, uuid = testUuid()): NewEntry {
  const modelFacing = !['compaction', 'compaction_undone', 'custom'].includes(content.type);
  return { uuid, session, parent, createdAt: 1, modelFacing, display: true, tokenEstimate: null, content };
}
