import assert from 'node:assert/strict';
import { FoldedState } from '../../../src/core/compaction/foldedState';
import { isEntryOf, type EntryOf } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/conversationRig';
import { calls, says } from '../../support/scriptedModel';

const good = (fact: string) => JSON.stringify({ logos: [fact], pathos: [], abstract: [], conversation_summary: 'They talked.' });

let rig: ConversationRig;

function records(): EntryOf<'compaction'>[] {
  return rig.events.flatMap((event) => (event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction') ? [event.entry] : []));
}

describe('300 compactions in a row', () => {
  it('keep pins, the user\'s rules, the user ledger and the work ledger, and the history as it was', async function () {
    this.timeout(120_000);
    rig = await ConversationRig.create();
    const rounds = Number(process.env['COMPACTIONS'] ?? 15);
    await rig.conversation.pin({ kind: 'text', target: 'PIN: deploy only on Fridays' });
    rig.model.scripts.push(says('ok'));
    await rig.conversation.send('RULE: never touch src/locked.ts');
    rig.summarizer.fail = null;
    const said: string[] = ['RULE: never touch src/locked.ts'];
    const written = new Set<string>();
    let made = 0;
    for (let i = 0; i < rounds; i++) {
      // A summariser that fails every third time, and forgets everything the other times.
      rig.summarizer.fail = i % 3 === 0 ? 'server' : null;
      rig.summarizer.answers.length = 0;
      if (i % 3 !== 0) rig.summarizer.answers.push(good(`round ${i}`));
      const path = `src/made/${i % 12}.ts`;
      written.add(path);
      rig.model.scripts.push(calls('write_file', { path }, `c${i}`), says(rig.words(250)));
      said.push(`ask ${i}`);
      await rig.conversation.send(`ask ${i}`);
      rig.model.scripts.push(says(rig.words(250)));
      said.push(`then ${i}`);
      await rig.conversation.send(`then ${i}`);
      const result = await rig.conversation.compact();
      if (result.entry) made++;
      const live = result.entry ?? records().at(-1)!;
      const state = FoldedState.parse(live.content.summary);
      assert.match(live.content.summaryText, /PIN: deploy only on Fridays/);
      assert.match(live.content.summaryText, /RULE: never touch src\/locked\.ts/);
      const visible = new Set([...state.work.files.map((file) => file.path), ...(await keptPaths())]);
      assert.deepEqual([...written].filter((one) => !visible.has(one)), [], `round ${i}: every file is in the work ledger`);
      const known = new Set([...state.ledger.map(({ ref }) => ref), ...state.earlier]);
      const folded = said.length - (await keptMessages());
      assert.equal(known.size, folded, `round ${i}: every user message is in the ledger`);
    }
    assert.ok(made >= rounds * 0.9, `${made}`);
    assert.ok((await rig.store.search({ text: 'RULE never touch src/locked.ts', session: rig.session, limit: 5 })).hits[0]?.text.includes('src/locked.ts'));
    const texts = (await rig.store.page(rig.session, { limit: 10_000 })).entries.flatMap(({ content }) => (content.type === 'message' && content.role === 'user' ? [content.text] : []));
    assert.deepEqual(texts, said);
    await rig.dispose();
  });

  async function keptPaths(): Promise<string[]> {
    return rig.conversation.entries.flatMap(({ content }) => (content.type === 'tool_call' ? [(content.input as { path: string }).path] : []));
  }

  async function keptMessages(): Promise<number> {
    return rig.model.requests.length === 0 ? 0 : rig.conversation.entries.filter((entry) => {
      const live = records().at(-1)!;
      const from = rig.conversation.entries.findIndex(({ uuid }) => uuid === live.content.firstKeptEntry);
      return from !== -1 && rig.conversation.entries.indexOf(entry) >= from && entry.content.type === 'message' && entry.content.role === 'user';
    }).length;
  }
});
