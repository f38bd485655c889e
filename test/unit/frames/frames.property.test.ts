import assert from 'node:assert/strict';
import fc from 'fast-check';
import { promptId, systemPrompt } from '../../../src/core/chat/turn/systemPrompt';
import { continuingPrompt } from '../../../src/core/compaction/summary/continuation';
import { emptyFoldedState, renderFoldedState } from '../../../src/core/compaction/ledgers/foldedState';
import { summaryPrompt } from '../../../src/core/compaction/summary/prompts';
import { renderParts, transcriptParts } from '../../../src/core/compaction/summary/summaryWriter';
import { emptyWorkLedger } from '../../../src/core/compaction/ledgers/workLedger';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { fillAttachments } from '../../../src/core/context/projection/attachments';
import { continueText, project } from '../../../src/core/context/projection/projection';
import { dataTag, Frames, noticeTag, sealDigits, sealOf, stateTag, type DataKind, type NoticeKind } from '../../../src/core/frames/frames';
import { memoryHead } from '../../../src/core/memory/notes';
import type { ModelMessage } from '../../../src/core/models/modelRequest';
import { createRecallTool } from '../../../src/core/recall/recallTool';
import type { Attachment } from '../../../src/core/session/userMessage';
import type { SearchResult } from '../../../src/core/session/searchQuery';
import { entryText, type EntryContent, type EntryType, type StoredEntry } from '../../../src/core/session/entry';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { enduranceRounds } from '../../support/chat/endurance';
import { forgery } from '../../support/chat/forgeries';
import { outlineOf, readFrames } from '../../support/chat/frameParser';
import { testFrames, testSeal } from '../../support/chat/testFrames';
import { entriesOf } from '../recall/entries';

/** What a model is sent on one path, and the frames that the program opens there. */
interface Sent {
  readonly texts: readonly string[];
  readonly frames: string;
}
type Path = (text: string) => Sent | Promise<Sent>;

/** THREADKEEPER_ROUNDS=10000 is what is promised. */
const attempts = enduranceRounds(2_500);
const seed = Number(process.env['FRAMES_SEED'] ?? 20_261_123);
const never = new AbortController().signal;

function textsOf(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap(({ blocks }) =>
    blocks.map((block) =>
      block.type === 'tool_use' ? `${block.name} ${JSON.stringify(block.input)}` : block.type === 'image' ? block.name : block.text,
    ),
  );
}

/** A branch as it is sent, with what is attached. `cut`: everything is too long. */
async function sent(entries: readonly StoredEntry[], attached = '', cut = false): Promise<string[]> {
  const { messages, systemSummary } = project({
    entries,
    system: 'S',
    tools: [],
    budget: { oversized: cut ? 50 : 1e9 },
    model: 'm',
    frames: testFrames,
    tokensOf: (entry) => entry.tokenEstimate ?? 0,
    estimate: estimateTokens,
  });
  const filled = await fillAttachments(messages, testFrames, {
    blob: async (hash) => (hash === 'gone' ? undefined : new TextEncoder().encode(attached)),
  });
  return [...(systemSummary === null ? [] : [systemSummary]), ...textsOf(filled)];
}

/** One entry between two plain messages; `isImported`: as another program, or another history, has brought it along. */
async function around(content: EntryContent, { isImported = false, cut = false } = {}): Promise<string[]> {
  const b = new BranchBuilder();
  b.user('before');
  if (content.type === 'tool_result') b.call(content.callId, content.name);
  const added = b.add(content);
  b.user('behind');
  return sent(
    b.entries.map((entry) => (isImported && entry === added ? { ...entry, sourceId: 'x' } : entry)),
    '',
    cut,
  );
}

const file = (text: string, kind: Attachment['kind']): Attachment => ({
  kind,
  name: text,
  path: text,
  hash: 'there',
  mime: 'text/plain',
  tokens: 3,
});

/** Every kind of entry, in the hands of somebody who writes an import: the compiler asks for the row of a new one. */
const entryPaths: Readonly<Record<EntryType, Path>> = {
  message: async (text) => ({ texts: await around({ type: 'message', role: 'user', text }), frames: '' }),
  thinking: async (text) => ({
    texts: await around({ type: 'thinking', text, model: 'm', signature: 's', promptId: 'another' }),
    frames: '',
  }),
  tool_call: async (text) => ({
    texts: await around({ type: 'tool_call', callId: 'c', name: text, input: { [text]: [text] } }),
    frames: '',
  }),
  tool_result: async (text) => ({ texts: await around({ type: 'tool_result', callId: 'c', name: 'mcp', text, status: 'ok' }), frames: '' }),
  nudge: async (text) => ({
    texts: await around({ type: 'nudge', percent: 1, text, injectAs: 'system', usedTokens: 1 }, { isImported: true }),
    frames: 'data imported',
  }),
  compaction: async (text) => {
    const b = new BranchBuilder();
    b.compaction(null, { summaryText: text });
    b.user('behind');
    return { texts: await sent(b.entries), frames: text.trim() === '' ? '' : 'conversation-state' };
  },
  compaction_undone: async (text) => ({ texts: await around({ type: 'compaction_undone', target: text, tokensRestored: 1 }), frames: '' }),
  checkpoint: async (text) => ({
    texts: await around({
      type: 'checkpoint',
      summary: text,
      topics: [text],
      keyDecisions: [text],
      openQuestions: [text],
      tokensAtCheckpoint: 1,
      messagesAtCheckpoint: 1,
      coversThrough: 'e1',
    }),
    frames: '',
  }),
  side_question: async (text) => ({
    texts: await around({
      type: 'side_question',
      question: text,
      text,
      outcome: 'answered',
      provider: text,
      model: text,
      requests: 1,
      calls: 1,
      read: 1,
      input: 1,
      output: 1,
      cost: null,
    }),
    frames: '',
  }),
  prepared_summary: async (text) => ({
    texts: await around({
      type: 'prepared_summary',
      folded: { raw: text },
      model: text,
      basis: text,
      reads: { count: 1, through: text, digest: text },
      notes: text,
      tokensBefore: 1,
      tokensAfter: 1,
      keeps: 0,
      cost: null,
    }),
    frames: '',
  }),
  handed_over: async (text) => ({
    texts: await around({ type: 'handed_over', program: text, id: text, records: { [text]: text } }),
    frames: '',
  }),
  usage_note: async (text) => ({ texts: await around({ type: 'usage_note', text }, { isImported: true }), frames: 'data imported' }),
  memory_note: async (text) => ({ texts: await around({ type: 'memory_note', text }), frames: 'data notes' }),
  branch_summary: async (text) => ({ texts: await around({ type: 'branch_summary', text, branchLeaf: 'x' }), frames: 'data other-branch' }),
  file_changes: async (text) => ({
    texts: await around({
      type: 'file_changes',
      source: 'tool',
      files: [{ folder: text, path: text, before: null, after: { hash: text, bytes: 1, kind: 'file', blob: text } }],
      uncovered: [{ path: text, reason: 'ignored' }],
    }),
    frames: '',
  }),
  label: async (text) => ({ texts: await around({ type: 'label', target: 'e1', label: text }), frames: '' }),
  model_change: async (text) => ({ texts: await around({ type: 'model_change', provider: text, model: text }), frames: '' }),
  thinking_level_change: async (text) => ({ texts: await around({ type: 'thinking_level_change', level: text }), frames: '' }),
  instructions_change: async (text) => ({ texts: await around({ type: 'instructions_change', text }), frames: '' }),
  tools_change: async (text) => ({ texts: await around({ type: 'tools_change', enabled: [text] }), frames: '' }),
  session_info: async (text) => ({ texts: await around({ type: 'session_info', title: text }), frames: '' }),
  custom: async (text) => ({ texts: await around({ type: 'custom', customType: text, data: text }), frames: '' }),
  custom_message: async (text) => ({
    texts: await around({ type: 'custom_message', customType: text, text }, { isImported: true }),
    frames: 'data imported',
  }),
};

const attachmentPath =
  (kind: Attachment['kind'], frames = `data ${kind}`): Path =>
  async (text) => {
    const b = new BranchBuilder();
    b.user('look', [file(text, kind)]);
    return { texts: await sent(b.entries, text), frames };
  };
const attachmentPaths: Readonly<Record<Attachment['kind'], Path>> = {
  image: attachmentPath('image', 'threadkeeper-notice missing'),
  file: attachmentPath('file'),
  selection: attachmentPath('selection'),
  folder: attachmentPath('folder'),
  problems: attachmentPath('problems'),
  terminal: attachmentPath('terminal'),
  changes: attachmentPath('changes'),
  session: attachmentPath('session'),
};

/** Lines at the beginning of which the program says something: nobody else's line begins there. */
function heads(text: string, mark: RegExp): number {
  return text.split(/[\n\r\v\f\u0085\u2028\u2029]/).filter((line) => mark.test(line)).length;
}

const recall = (text: string, input: unknown): Promise<{ text: string }> => {
  const entries = entriesOf([
    { type: 'message', role: 'user', text: `beacon ${text}`, attachments: [file(text, 'file')] },
    { type: 'tool_result', callId: 'c', name: `beacon ${text}`, text: `beacon ${text}`, status: 'ok' },
  ]);
  // A database for each of ten thousand attempts would take minutes and say nothing about frames: what is found is given.
  const hit = {
    entry: 'u2',
    seq: 2,
    sessionId: '20261120_001',
    sessionTitle: text,
    role: 'tool',
    speaker: `result of ${text}`,
    at: 1,
    score: 1,
    text: `.${text}`,
    start: 0,
    length: text.length + 2,
    beside: 1,
    dates: [{ said: text, day: text }],
  };
  const store = {
    search: async () => ({ hits: [hit], terms: ['beacon'], complete: true }) as unknown as SearchResult,
    session: async () => undefined,
    entries: async (uuids: readonly string[]) => entries.filter(({ uuid }) => uuids.includes(uuid)),
    entriesBySeq: async (seqs: readonly number[]) => entries.filter(({ seq }) => seqs.includes(seq)),
    following: async (entry: string) => (entry === 'u1' ? ['u2'] : []),
    untrashed: async () => [],
    blob: async () => new TextEncoder().encode(text),
  };
  return createRecallTool({ store, session: () => null, newSeal: () => testSeal }).run(input, never);
};

const otherPaths: Readonly<Record<string, Path>> = {
  'an answer': async (text) => ({
    texts: await around({ type: 'message', role: 'assistant', text, provider: 'p', model: 'm' }),
    frames: '',
  }),
  'an answer of offline mode': async (text) => ({
    texts: await around({ type: 'message', role: 'assistant', text, provider: 'offline' }),
    frames: text.trim() === '' ? '' : 'data offline-answer',
  }),
  'what is pinned': async (text) => ({
    texts: await around({ type: 'custom_message', customType: 'pinned', text }),
    frames: 'data pinned',
  }),
  'a skill': async (text) => ({ texts: await around({ type: 'custom_message', customType: 'skill', text }), frames: `${noticeTag} skill` }),
  'a nudge of the settings': async (text) => ({
    texts: await around({ type: 'nudge', percent: 1, text, injectAs: 'user', usedTokens: 1 }),
    frames: `${noticeTag} notes`,
  }),
  'the size of the context': async (text) => ({ texts: await around({ type: 'usage_note', text }), frames: `${noticeTag} usage` }),
  'the request to go on': async (text) => ({
    texts: await around({ type: 'custom_message', customType: text, text: continueText }),
    frames: `${noticeTag} continue`,
  }),
  'an answer that begins and ends a branch': async (text) => {
    const b = new BranchBuilder();
    b.assistant(`.${text}`);
    return { texts: await sent(b.entries), frames: `${noticeTag} start, ${noticeTag} continue` };
  },
  'a summary among the messages': async (text) => {
    const b = new BranchBuilder();
    b.compaction(null, { summaryText: `.${text}`, placement: 'system-message' });
    b.user('behind');
    return { texts: await sent(b.entries), frames: `${noticeTag} summary(${stateTag})` };
  },
  'a summary in the system text': async (text) => {
    const b = new BranchBuilder();
    b.compaction(null, { summaryText: `.${text}`, placement: 'system-block' });
    b.user('behind');
    return { texts: await sent(b.entries), frames: stateTag };
  },
  'a message that is cut': async (text) => ({
    texts: await around({ type: 'message', role: 'user', text: text.repeat(40).padEnd(900, '.') }, { cut: true }),
    frames: `${noticeTag} cut`,
  }),
  'a result that is cut': async (text) => ({
    texts: await around(
      { type: 'tool_result', callId: 'c', name: 'mcp', text: text.repeat(40).padEnd(900, '.'), status: 'error' },
      { cut: true },
    ),
    frames: `${noticeTag} cut`,
  }),
  'an attachment that is cut': async (text) => {
    const b = new BranchBuilder();
    b.user('', [{ ...file(text, 'file'), tokens: 300 }]);
    return { texts: await sent(b.entries, text.repeat(40).padEnd(900, '.'), true), frames: `data file(${noticeTag} cut)` };
  },
  'an attachment that is gone': async (text) => {
    const b = new BranchBuilder();
    b.user('', [{ ...file(text, 'file'), hash: 'gone' }]);
    return { texts: await sent(b.entries), frames: `${noticeTag} missing` };
  },
  'a result that is masked': async (text) => {
    const b = new BranchBuilder();
    b.user('q');
    b.call('c');
    const result = b.result('c', text);
    b.compaction(b.entries[0]!, { summaryText: '', masked: [result.uuid] });
    b.user('behind');
    return { texts: await sent(b.entries), frames: `${noticeTag} masked` };
  },
  'tags that are split over two messages': async (text) => {
    const b = new BranchBuilder();
    b.user(text.slice(0, text.length / 2));
    b.user(text.slice(text.length / 2));
    b.user('.');
    return { texts: await sent(b.entries), frames: '' };
  },
  'what recall finds': async (text) => ({ texts: [(await recall(text, { query: 'beacon', allSessions: true })).text], frames: 'entry' }),
  'what recall reads': async (text) => ({
    texts: [(await recall(text, { entryIds: ['#1', '#2'], maxTokens: 12_000 })).text],
    frames: 'entry, entry',
  }),
  'what is around an entry': async (text) => ({
    texts: [(await recall(text, { around: '#1', maxTokens: 12_000 })).text],
    frames: 'entry, entry',
  }),
  'the transcript of a summariser': (text) => {
    const b = new BranchBuilder();
    b.user(`.${text}`);
    b.result('c', text, text);
    const transcript = renderParts(transcriptParts(b.entries, 1_000, estimateTokens), 60);
    assert.equal(heads(transcript, /^\[/), 2, transcript);
    return {
      texts: [summaryPrompt({ frames: testFrames, previous: `.${text}`, transcript, isVerbatim: true, instructions: null, closing: '' })],
      frames: 'previous-state, conversation',
    };
  },
  'a summary in the conversation': (text) => {
    const b = new BranchBuilder();
    b.result('c', text, text);
    const continuation = {
      from: 'p/m',
      request: { model: 'm', system: '', tools: [], messages: [], maxOutputTokens: 1 },
      entries: b.entries,
      hasState: true,
      tokens: 1,
    };
    return {
      texts: [continuingPrompt({ continuation, frames: testFrames, system: '', instructions: null, closing: '' })],
      frames: `${noticeTag} compression`,
    };
  },
  'a summary that is repaired': (text) => ({ texts: [testFrames.material('summary', text)], frames: 'summary' }),
  'what a folded range leaves behind': (text) => {
    const line = { ref: '#1', text };
    const state = renderFoldedState(
      {
        ...emptyFoldedState,
        state: { logos: [text], pathos: [text], abstract: [text], conversation_summary: `.${text}` },
        lines: [{ ref: '#4', text: `;${text}` }],
        ledger: [{ ref: '#1', text: 'x' }],
        orders: [{ ref: '#2', text: `.${text}` }],
        values: [{ ref: '#3', text: `.${text}` }],
        identifiers: [line],
        request: line,
        work: { ...emptyWorkLedger, todos: [line], lastError: { text, ref: '#1', source: text, fix: null } },
      },
      null,
      100,
    );
    assert.equal(heads(state, /^#/), 11, state);
    return { texts: [testFrames.state(state)], frames: stateTag };
  },
  'the head of the notes': async (text) => {
    const notes = {
      list: async () => [
        { path: 'a.md', bytes: 1, modifiedAt: 2 },
        { path: 'user/b.md', bytes: 1, modifiedAt: 1 },
      ],
      read: async () => `.${text}`,
      write: async () => undefined,
      delete: async () => undefined,
      rename: async () => undefined,
    };
    const head = (await memoryHead(notes))!;
    assert.equal(heads(head, /^[^ -].*:$/), 3, head);
    return { texts: await around({ type: 'memory_note', text: head }), frames: 'data notes' };
  },
};

describe('what others write in a prompt', () => {
  const tries = fc.sample(forgery, { numRuns: attempts, seed });
  const seen = new Set<string>();
  const note = (outline: string) => outline.split(/[(), ]+/).forEach((word) => seen.add(word));

  for (const [table, paths] of Object.entries({ 'an entry': entryPaths, 'an attachment': attachmentPaths, path: otherPaths })) {
    for (const [name, path] of Object.entries(paths)) {
      it(`neither begins nor ends a frame of the program (${table}: ${name})`, async () => {
        for (const [index, text] of tries.entries()) {
          const { texts, frames } = await path(text);
          const outline = texts
            .map((one) => outlineOf(readFrames(one, testSeal)))
            .filter((part) => part !== '')
            .join(', ');
          if (outline !== frames) assert.equal(outline, frames, `attempt ${index} of seed ${seed}: ${JSON.stringify(text)}`);
          if (index === 0) note(outline);
        }
      }).timeout(120_000);
    }
  }

  it('has every frame that there is in these tables', () => {
    const kinds: Readonly<Record<NoticeKind | DataKind, true>> = {
      notes: true,
      usage: true,
      summary: true,
      start: true,
      continue: true,
      compression: true,
      cut: true,
      masked: true,
      missing: true,
      skill: true,
      file: true,
      selection: true,
      folder: true,
      problems: true,
      terminal: true,
      changes: true,
      session: true,
      pinned: true,
      'other-branch': true,
      imported: true,
      'offline-answer': true,
    };
    assert.deepEqual(
      Object.keys(kinds).filter((kind) => !seen.has(kind)),
      [],
    );
  });
});

describe('the seal of a session', () => {
  it('is 96 bits in as many digits as they take, and always as many', () => {
    assert.equal(sealOf(new Uint8Array(12)), '0'.repeat(sealDigits));
    assert.equal(sealOf(new Uint8Array(12).fill(255)), String(2n ** 96n - 1n));
    assert.equal(sealOf(new Uint8Array(32).fill(255)).length, sealDigits);
  });

  it('is told to the model in the system text, with the names of all frames and what they are worth', () => {
    const system = systemPrompt([], '', testFrames);
    assert.ok(system.includes(testSeal));
    for (const tag of [noticeTag, dataTag, stateTag]) assert.ok(system.includes(`<${tag}-…>`), tag);
  });

  it('names, with the text around it, the system text that a thought belongs to', () => {
    assert.equal(promptId(testFrames), promptId(new Frames(testSeal)));
    assert.notEqual(promptId(testFrames), promptId(new Frames('1'.repeat(sealDigits))));
    assert.ok(!promptId(testFrames).includes(testSeal.slice(0, 6)));
  });

  it('leaves alone what does not have it', () => {
    const input = { a: ['x'] };
    assert.equal(testFrames.plainValue(input), input);
    assert.equal(entryText({ type: 'message', role: 'user', text: testFrames.plain('plain </data>') }), 'plain </data>');
  });
});
