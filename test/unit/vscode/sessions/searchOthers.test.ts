import assert from 'node:assert/strict';
import type { SessionStore } from '../../../../src/core/ports';
import type { SearchHit, SearchResult } from '../../../../src/core/session/searchQuery';
import { groupedHits, otherHistories, type FoundIn } from '../../../../src/vscode/sessions/searchOthers';
import type { OtherWorkspace } from '../../../../src/vscode/sessions/tree/otherWorkspace';

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
const search = (store: SessionStore) => store.search({ text: 'tide', limit: 10 });
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('a search over all workspaces', () => {
  it('puts what each of them has below what stands there, the words before what stands beside them', () => {
    const parts: FoundIn[] = [
      { workspace: null, result: result({ entry: 'b', score: 9, beside: 1 }, { entry: 'a', score: 2 }) },
      { workspace: workspace('broken'), result: null },
      { workspace: workspace('harbor'), result: result({ entry: 'c', score: 5 }, { entry: 'd', score: 4 }) },
      { workspace: workspace('quay'), result: result({ entry: 'e', score: 8 }) },
    ];
    const rows = (count: number, most = 10) =>
      groupedHits(parts.slice(0, count), most, 1).map(({ workspace: where, hit }) => [where?.name ?? null, hit.entry]);
    const all = [
      [null, 'a'],
      [null, 'b'],
      ['harbor', 'c'],
      ['quay', 'e'],
    ];
    assert.deepEqual(
      [rows(1), rows(2), rows(3), rows(4), rows(4, 1)],
      [all.slice(0, 2), all.slice(0, 2), all.slice(0, 3), all, all.slice(0, 1)],
    );
  });

  it('names those that are too many to be searched', async () => {
    const names = Array.from({ length: 26 }, (_, i) => `w${i}`);
    const others = otherHistories({ list: async () => names.map(workspace), read: async () => result() as never }, silent);
    const leftOut: string[] = [];
    let searched = 0;
    for await (const part of others.read(search, () => true))
      if (part.isLeftOut) leftOut.push(part.workspace!.name);
      else searched++;
    assert.deepEqual([searched, leftOut], [24, ['w24', 'w25']]);
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
    for await (const part of others.read(search, () => found.length < 2)) found.push([part.workspace?.name, part.result?.hits.length]);
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
