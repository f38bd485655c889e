import { exclusionContent } from '../../../src/core/context/contextExclusion';
import type { EntryContent, NewEntry } from '../../../src/core/session/entry';
import { turnErrorType } from '../../../src/core/chat/events';
import type { SessionStore } from '../../../src/core/ports';
import { words } from '../chat/chatSession';
import { compactionContent } from '../chat/compactionContent';
import { testUuid } from '../store/storeTemp';

export const everyCard = 'Every card';
export const fullSession = 'A long report';
/** In one answer, to be damaged. */
export const toBeDamaged = 'Barnacles grow on the gauge';

const answer = [
  'The table is read **once** a day, from `data.csv`. Two things to know:',
  '',
  '1. Times are local, [as decided](https://example.org/tides).',
  '2. A missing row is a calm day, *not* an error.',
  '',
  '```js',
  '// The first reading that is higher than both of its neighbours.',
  'export const high = readings.find(({ height }, i) => height > 4.2 && i > 0);',
  '```',
  '',
  '| port | height | at |',
  '|---|---:|---|',
  '| north | 4.2 m | 06:12 |',
  '| south | 3.9 m | 06:47 |',
  '',
  '> Measured at the old pier.',
].join('\n');

const onePixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/**
 * A history in which every row there can be stands in one session, with something in its composer, and another session whose next
 * message asks what to do about a full context of 12,000 tokens.
 */
export async function writeEveryCard(store: SessionStore): Promise<void> {
  await writeFullSession(store);
  const { uuid: session } = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: Date.now(), title: everyCard });
  let leaf: string | null = null;
  const add = async (content: EntryContent, more: Partial<NewEntry> = {}) => {
    const entry = newEntry(session, leaf, content, more);
    await store.append(session, {
      entries: [entry],
      ...(content.type === 'message' && content.role === 'assistant' ? { usage: [usageOf(entry.uuid)] } : {}),
    });
    return entry.uuid;
  };
  const say = async (content: EntryContent, more: Partial<NewEntry> = {}) => (leaf = await add(content, more));
  const call = async (callId: string, name: string, input: unknown, status: 'ok' | 'error' | 'denied', text: string) => {
    const uuid = await say({ type: 'tool_call', callId, name, input, provider: 'anthropic', model: 'claude-test' });
    await say({ type: 'tool_result', callId, name, status, text });
    return uuid;
  };

  const first = await say({ type: 'message', role: 'user', text: 'When is high water in the north port?' });
  await say({ type: 'message', role: 'assistant', text: 'At 06:12 and at 18:37.', model: 'claude-test' });
  const older = await say(
    compactionContent('op-1', null, {
      coversFrom: first,
      summaryText: 'The user asks for tides.',
      tokensBefore: 8_200,
      tokensAfter: 900,
      messagesBefore: 14,
      rung: 'extractive',
      model: null,
      durationMs: 300,
    }),
    quiet,
  );
  const kept = await say({ type: 'message', role: 'user', text: 'And in the south port?' });
  await say({
    type: 'message',
    role: 'assistant',
    text: `35 minutes later. ${toBeDamaged} there, so the reading is rough.`,
    model: 'claude-test',
  });
  const continuity = { inContextPercent: 97.2, reachablePercent: 100, elements: 214, searched: 24 };
  const audit = { checked: 9, inSummary: 8, leftBehind: 9, missing: [], repaired: false, unknownIds: ['#911'] };
  await say(
    compactionContent('op-2', kept, {
      coversFrom: first,
      supersedes: older,
      previous: older,
      tokensBefore: 9_100,
      tokensAfter: 1_200,
      messagesBefore: 22,
      trigger: 'automatic',
      model: 'claude-small',
      durationMs: 14_200,
      continuity,
      audit,
      summaryText:
        '## Where it stands\n\n- High water in the **north port**: 06:12 and 18:37.\n- Rule: a missing row is a *calm day*, see `data.csv`.',
      note: 'Made from the last checkpoint.',
    }),
    quiet,
  );
  await add({ type: 'message', role: 'user', text: 'Forget the tides.' });
  const asked = await say({ type: 'message', role: 'user', text: 'How is the table read? Look at @src/tide.js first.' });
  await say({
    type: 'thinking',
    text: 'The reader is in *tide.js*; the table in `data.csv`.',
    durationMs: 4_200,
    provider: 'anthropic',
    model: 'claude-test',
  });
  await call('c1', 'read_file', { path: 'src/tide.js' }, 'ok', 'export function nextHighWater(readings, now) {');
  await call('c2', 'edit_file', { path: 'src/tide.js', old_text: 'find', new_text: 'findLast' }, 'ok', 'src/tide.js: changed at line 3.');
  await call('c3', 'run_command', { command: 'npm test' }, 'error', 'Exit code 1 after 0.4 s.');
  await call('c4', 'run_command', { command: 'rm -r notes' }, 'denied', 'The user did not allow this call.');
  const answered = await say({ type: 'message', role: 'assistant', text: answer, model: 'claude-test' });
  await add(
    {
      type: 'checkpoint',
      summary: 'Tides of two ports.',
      topics: ['tides'],
      keyDecisions: ['Times are local'],
      openQuestions: ['Who reads the gauge?'],
      tokensAtCheckpoint: 5_200,
      messagesAtCheckpoint: 8,
      coversThrough: answered,
      model: 'claude-small',
    },
    quiet,
  );
  await add({ type: 'label', target: asked, label: 'how the table is read' }, quiet);
  await say({ type: 'nudge', percent: 50, text: 'Save what must not be lost.', injectAs: 'user', usedTokens: 6_100 });
  await call('c5', 'memory', { command: 'create', path: '/memories/tides.md', file_text: 'Times are local.\n' }, 'ok', 'File created.');
  await call('c6', 'use_skill', { name: 'tides' }, 'ok', 'The skill "tides" stands in the conversation.');
  await say({
    type: 'custom_message',
    customType: 'skill',
    text: 'tides (.claude/skills/tides.md)\n\nRead the **gauge** first, then `data.csv`.',
  });
  await say({ type: 'branch_summary', text: 'On the other branch the south port was measured by hand.', branchLeaf: answered });
  await say({ type: 'model_change', provider: 'anthropic', model: 'claude-test' }, quiet);
  const excluded = await say({ type: 'message', role: 'user', text: 'Here is the whole log of last year, as asked.' });
  await say({ type: 'message', role: 'assistant', text: 'The log says that in March the', model: 'claude-test', interrupted: 'stopped' });
  await say({ ...exclusionContent({ entries: [excluded], excluded: true, tokensAfter: 6_000 }) }, quiet);
  await say({ type: 'message', role: 'user', text: 'Go on, please.' });
  await say(
    {
      type: 'custom',
      customType: turnErrorType,
      data: {
        reason: 'bad_key',
        message: 'The API key was refused. Set a valid one with “Threadkeeper: Set API Key…”. Your message is saved.',
      },
    },
    quiet,
  );

  await store.savePin({ session, kind: 'entry', target: asked, contentHash: null, at: Date.now() });
  const file = {
    kind: 'file',
    name: 'tide.js',
    path: 'src/tide.js',
    mime: 'text/plain',
    tokens: 210,
    hash: await store.putBlob(Buffer.from('export const tide = 1;'), 'text/plain'),
  } as const;
  const picture = {
    kind: 'image',
    name: 'pier.png',
    mime: 'image/png',
    tokens: 90,
    hash: await store.putBlob(onePixel, 'image/png'),
  } as const;
  await store.saveDraft(session, {
    text: 'What does this picture show, and does\nthe file agree with it?',
    attachments: [file, picture],
    at: Date.now(),
  });
}

async function writeFullSession(store: SessionStore): Promise<void> {
  const { uuid: session } = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: Date.now(), title: fullSession });
  let leaf: string | null = null;
  for (let part = 1; part <= 5; part++) {
    const question = newEntry(session, leaf, { type: 'message', role: 'user', text: `Part ${part}: ${words(2_200, part)}` });
    const reply = newEntry(session, question.uuid, { type: 'message', role: 'assistant', text: 'Noted.', model: 'claude-test' });
    await store.append(session, { entries: [question, reply] });
    leaf = reply.uuid;
  }
}

const quiet = { modelFacing: false } as const;

function newEntry(session: string, parent: string | null, content: EntryContent, more: Partial<NewEntry> = {}): NewEntry {
  return {
    uuid: testUuid(),
    session,
    parent,
    createdAt: Date.now(),
    modelFacing: true,
    display: true,
    tokenEstimate: null,
    content,
    ...more,
  };
}

function usageOf(entry: string) {
  return {
    entry,
    provider: 'anthropic',
    model: 'claude-test',
    kind: 'turn',
    input: 5_000,
    output: 200,
    cacheRead: 3_000,
    cacheWrite: 500,
    cost: 0.012,
    at: Date.now(),
  } as const;
}
