import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { FoldedState } from '../../../src/core/compaction/ledgers/foldedState';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { isEntryOf, type EntryOf, type StoredEntry } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';

/**
 * The promise is for 300, which take four minutes. Measured there: a summary grows for 50 rounds, until the user's words fill their share,
 * and not after that.
 */
const rounds = Number(process.env['COMPACTIONS'] ?? 15);
const pin = 'PIN: deploy only on Fridays';
const rule = 'RULE: never touch src/locked.ts';
const projects =
  'Harbor Falcon Juniper Quartz Lantern Meadow Nimbus Orchard Pelican Saffron Timber Umbra Velvet Willow Zephyr Anchor Birch Comet Drift Ember'.split(
    ' ',
  );
/** Of what may be left behind, in shares of the longest summary: the user's words, the work with tools, passages, names, pins. */
const mostLeftBehind = 1.5;

describe(`${rounds} compactions in a row`, () => {
  it("keep pins, the user's rules, the user ledger and the work ledger, every fact through recall, and the history as it was", async function () {
    this.timeout(20_000 + rounds * 2_000);
    const rig = await ConversationRig.create();
    const seen = new Appended(rig);
    await rig.conversation.pin({ kind: 'text', target: pin });
    const said: string[] = [];
    const send = async (text: string, ...scripts: Parameters<typeof rig.model.scripts.push>) => {
      rig.model.scripts.push(...scripts);
      said.push(text);
      assert.equal((await rig.conversation.send(text)).ok, true);
    };
    await send(rule, says('ok'));
    const written = new Set<string>();
    const facts = new Map<string, string[]>();
    let made = 0;
    let longest = 0;
    for (let i = 0; i < rounds; i++) {
      // A summariser that fails every third time, and forgets everything the other times.
      rig.summarizer.fail = i % 3 === 0 ? 'server' : null;
      rig.summarizer.answer = JSON.stringify({ logos: [`round ${i}`], pathos: [], abstract: [], conversation_summary: 'They talked.' });
      const path = `src/made/${i % 12}.ts`;
      written.add(path);
      const project = projects[i % projects.length]!;
      const budget = String(100_000 + i * 113);
      facts.set(project, [...(facts.get(project) ?? []), budget].slice(-2));
      await send(`The yearly budget of ${project} is ${budget} euros.`, calls('write_file', { path }, `c${i}`), says(rig.words(250)));
      await send(`then ${i}`, says(rig.words(250)));
      if ((await rig.conversation.compact()).entry) made++;
      const live = seen.newestCompaction();
      const { summaryText } = live.content;
      const state = FoldedState.parse(live.content.summary);
      assert.ok(summaryText.includes(pin) && summaryText.includes(rule), `round ${i}: pin and rule`);
      const { folded, kept } = seen.cutBy(live);
      const paths = new Set([
        ...state.work.files.map((file) => file.path),
        ...kept.flatMap(({ content }) => (content.type === 'tool_call' ? [(content.input as { path: string }).path] : [])),
      ]);
      assert.deepEqual(
        [...written].filter((one) => !paths.has(one)),
        [],
        `round ${i}: every file is in the work ledger`,
      );
      const known = new Set([...state.ledger.map(({ ref }) => ref), ...state.earlier]);
      assert.deepEqual(
        folded.flatMap((entry) => (isUser(entry) && !known.has(`#${entry.seq}`) ? [entry.seq] : [])),
        [],
        `round ${i}: every user message is in the ledger`,
      );
      longest = Math.max(longest, estimateTokens(summaryText));
    }
    assert.ok(made >= rounds * 0.9, `${made}`);
    const { policy, snapshot } = rig.conversation;
    const mostAllowed = mostLeftBehind * Math.min(policy.compaction.maxSummaryTokens, snapshot.limit / 5);
    assert.ok(longest <= mostAllowed, `${longest} tokens of ${mostAllowed} are left behind`);
    if (process.env['COMPACTIONS'])
      console.log(`      ${made} records of ${rounds} rounds, at most ${longest} tokens left behind (bound ${Math.round(mostAllowed)})`);

    await rig.reopen();
    for (const [project, budgets] of facts) {
      const { hits } = await rig.store.search({ text: `What is the yearly budget of ${project}?`, session: rig.session, limit: 5 });
      const ranks = budgets.map((budget) => hits.findIndex(({ text }) => text.includes(budget)));
      assert.equal(ranks.at(-1), 0, `${project}: ${JSON.stringify(ranks)}`);
    }
    const stored = await rig.store.entries(seen.entries.map(({ uuid }) => uuid));
    assert.equal(stored.length, seen.entries.length);
    assert.deepEqual(
      stored.flatMap((entry, i) => (isDeepStrictEqual(entry.content, seen.entries[i]?.content) ? [] : [entry.seq])),
      [],
      'entries that are no longer what was put in',
    );
    assert.deepEqual(
      stored.flatMap((entry) => (isUser(entry) && entry.content.type === 'message' ? [entry.content.text] : [])),
      said,
    );
    await rig.dispose();
  });
});

function isUser({ content }: StoredEntry): boolean {
  return content.type === 'message' && content.role === 'user';
}

/** What the conversation has told that it appended, in order; read on from where it was read to. */
class Appended {
  readonly entries: StoredEntry[] = [];
  private readonly at = new Map<string, number>();
  private compaction: EntryOf<'compaction'> | null = null;

  constructor(rig: ConversationRig) {
    rig.conversation.onDidEmit((event) => {
      if (event.type !== 'entry_appended') return;
      this.at.set(event.entry.uuid, this.entries.length);
      this.entries.push(event.entry);
      if (isEntryOf(event.entry, 'compaction')) this.compaction = event.entry;
    });
  }

  newestCompaction(): EntryOf<'compaction'> {
    assert.ok(this.compaction);
    return this.compaction;
  }

  cutBy({ content, uuid }: EntryOf<'compaction'>): { readonly folded: readonly StoredEntry[]; readonly kept: readonly StoredEntry[] } {
    const end = this.at.get(content.firstKeptEntry ?? uuid);
    assert.ok(end !== undefined);
    return { folded: this.entries.slice(0, end), kept: this.entries.slice(end) };
  }
}
