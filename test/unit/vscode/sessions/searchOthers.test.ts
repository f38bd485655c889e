import assert from 'node:assert/strict';
import type { SessionStore } from '../../../../src/core/ports';
import type { SearchHit, SearchResult } from '../../../../src/core/session/searchQuery';
import { otherHistories, rankedHits, type FoundIn } from '../../../../src/vscode/sessions/searchOthers';
import type { OtherWorkspace } from '../../../../src/vscode/sessions/tree/sessionNodes';

const workspace = (name: string): OtherWorkspace => ({
  name,
  folder: `/stores/${name}`,
  place: `/home/${name}`,
  sessionCount: 1,
  lastUsed: 0,
  uri: null,
  gone: false,
});
const result = (...hits: Partial<SearchHit>[]): SearchResult => ({
  hits: hits.map((hit) => ({ beside: null, ...hit }) as SearchHit),
  terms: ['tide'],
  statistics: { count: 0, length: 0, documentFrequency: [], named: [] },
  complete: true,
});
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('a search over all workspaces', () => {
  it('ranks what all of them have in one list, the words before what stands beside them', () => {
    const parts: FoundIn[] = [
      { workspace: null, result: result({ entry: 'a', score: 2 }, { entry: 'b', score: 9, beside: 1 }) },
      { workspace: workspace('harbor'), result: result({ entry: 'c', score: 5 }) },
      { workspace: workspace('broken'), result: null },
    ];
    assert.deepEqual(
      rankedHits(parts, 10).map(({ workspace: where, hit }) => [where?.name ?? null, hit.entry]),
      [
        ['harbor', 'c'],
        [null, 'a'],
        [null, 'b'],
      ],
    );
    assert.equal(rankedHits(parts, 1).length, 1);
  });

  it('asks one store after the other, names those that cannot be read, and ends when nobody wants it', async () => {
    const asked: string[] = [];
    const others = otherHistories(
      {
        list: async () => ['one', 'two', 'three'].map(workspace),
        read: async (folder, work) => {
          asked.push(folder);
          if (folder.endsWith('one')) throw new Error('locked');
          return work({ search: async () => result({ entry: folder, score: 1 }) } as unknown as SessionStore);
        },
      },
      silent,
    );
    const found: (readonly [string | undefined, number | undefined])[] = [];
    for await (const part of others.search('tide', () => found.length < 2)) found.push([part.workspace?.name, part.result?.hits.length]);
    assert.deepEqual(
      [asked, found],
      [
        ['/stores/one', '/stores/two'],
        [
          ['one', undefined],
          ['two', 1],
        ],
      ],
    );
  });
});
