import assert from 'node:assert/strict';
import { criticalIdentifiers, identifierAppendix, missingFrom } from '../../../../src/core/compaction/measure/identifiers';
import { elementsOf, inContextPercent, reachablePercent } from '../../../../src/core/compaction/measure/continuity';
import { analyseText, itemsOf as itemsOfEntries } from '../../../../src/core/compaction/measure/textAnalysis';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import type { SessionStore } from '../../../../src/core/ports';
import { entryText } from '../../../../src/core/session/entry';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

function branch(): BranchBuilder {
  const b = new BranchBuilder();
  b.user('Never touch src/locked.ts. The port is 54329.');
  b.assistant('Understood. We decided to use parseConfig because loadConfig is slow. See https://example.org/spec.');
  b.call('c', 'read_file', { path: 'x' });
  b.result('c', 'noise_one noise_two src/noise.ts', 'read_file');
  b.user('And parseConfig must read port 54329.');
  return b;
}

const itemsOf = (b: BranchBuilder) => itemsOfEntries(b.entries);

describe('the identifier audit', () => {
  it('wants what the user said and what is repeated first, and no noise of tools', () => {
    const { identifiers } = analyseText(itemsOf(branch()), 500, estimateTokens);
    const critical = criticalIdentifiers(identifiers);
    assert.deepEqual(
      critical.map(({ text, byUser, count }) => [text, byUser, count]),
      [
        ['54329', true, 2],
        ['parseConfig', true, 2],
        ['src/locked.ts', true, 1],
        ['loadConfig', false, 1],
        ['https://example.org/spec', false, 1],
      ],
    );
    assert.deepEqual(
      missingFrom(critical, 'parseConfig reads the port 54329, not src/locked').map(({ text }) => text),
      ['src/locked.ts', 'loadConfig', 'https://example.org/spec'],
    );
  });

  it('makes a line per entry of what is missing, within its budget', () => {
    const critical = criticalIdentifiers(analyseText(itemsOf(branch()), 500, estimateTokens).identifiers);
    assert.deepEqual(
      identifierAppendix(critical, (id) => `#${id.slice(1)}`, 200, estimateTokens),
      [
        { ref: '#1', text: '54329, src/locked.ts' },
        { ref: '#2', text: 'parseConfig, loadConfig, https://example.org/spec' },
      ],
    );
    const small = identifierAppendix(critical, (id) => id, 10, estimateTokens);
    assert.ok(estimateTokens(small.map(({ text }) => text).join(', ')) <= 10 && small.length > 0);
  });
});

describe('the continuity score', () => {
  const b = branch();
  const elements = elementsOf(b.entries, analyseText(itemsOf(b), 500, estimateTokens));

  it('knows requests, decisions, identifiers and details', () => {
    const kinds = new Map<string, string[]>();
    for (const { kind, text } of elements) kinds.set(kind, [...(kinds.get(kind) ?? []), text]);
    assert.equal(kinds.get('request')?.length, 2);
    assert.deepEqual(kinds.get('decision'), ['We decided to use parseConfig because loadConfig is slow.']);
    assert.ok(kinds.get('identifier')?.includes('src/locked.ts'));
    assert.ok(kinds.get('detail')?.includes('54329'));
  });

  it('is 100 when all stands there, 0 when nothing does, and weighs requests three times', () => {
    assert.equal(inContextPercent(elements, b.entries.map(({ content }) => entryText(content)).join('\n')), 100);
    assert.equal(inContextPercent(elements, ''), 0);
    const two = [
      { kind: 'request' as const, text: 'keep the lock file', entryId: 'e' },
      { kind: 'detail' as const, text: '42 ms', entryId: 'e' },
    ];
    assert.deepEqual([inContextPercent(two, 'the lock file: keep it'), inContextPercent(two, 'took 42 ms')], [75, 25]);
    assert.equal(inContextPercent([], ''), 100);
  });

  it('asks the search, and counts only what comes back with the element', async () => {
    const asked: string[] = [];
    const store: Pick<SessionStore, 'search'> = {
      search: async ({ text, session, limit }) => {
        asked.push(text);
        assert.deepEqual([session, limit], ['s', 10]);
        const hit = {
          entry: 'other',
          seq: 1,
          session: 's',
          sessionId: '',
          sessionTitle: '',
          role: 'user' as const,
          speaker: 'user',
          at: 0,
          score: 1,
          start: 0,
          length: 1,
          beside: null,
          dates: [],
          text: text === '42 ms' ? 'it took 42 ms' : 'something else',
        };
        return { hits: [hit], terms: [], statistics: { count: 1, length: 1, documentFrequency: [], named: [] }, complete: true };
      },
    };
    const two = [
      { kind: 'identifier' as const, text: 'src/gone.ts', entryId: 'e' },
      { kind: 'detail' as const, text: '42 ms', entryId: 'e' },
    ];
    assert.deepEqual(await reachablePercent(two, 's', store, 10), { reachablePercent: 33, searched: 2 });
    assert.deepEqual(asked, ['src/gone.ts', '42 ms']);
    assert.deepEqual(await reachablePercent(elements, 's', store, 3), { reachablePercent: 0, searched: 3 });
    assert.deepEqual(await reachablePercent([], 's', store, 3), { reachablePercent: null, searched: 0 });
  });
});
