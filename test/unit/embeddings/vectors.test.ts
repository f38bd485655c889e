import { deepEqual, equal, ok } from 'node:assert/strict';
import { forTask, modelOfSpace, embeddingSpace } from '../../../src/core/embeddings/embeddings';
import { meantShares, mostMeant, quantised, VectorTable } from '../../../src/core/embeddings/vectors';
import { PassageRanker } from '../../../src/core/recall/rankPassages';

describe('vectors of passages', () => {
  it('keep their cosine in a byte for each number', () => {
    let seed = 7;
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648 - 0.5;
    const vector = () => Array.from({ length: 384 }, random);
    const cosine = (a: readonly number[], b: readonly number[]) => {
      const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
      return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
    };
    for (let i = 0; i < 50; i++) {
      const [a, other] = [vector(), vector()];
      const b = a.map((value, k) => value + (other[k] ?? 0) * (i / 25));
      const [x, y] = [quantised(a), quantised(b)];
      ok(x.every((value) => Number.isInteger(value) && Math.abs(value) <= 127));
      ok(Math.abs(cosine(a, b) - cosine(x, y)) < 0.01);
    }
    deepEqual(quantised([0, 0]), [0, 0]);
  });

  it('are found by their direction, whatever their length, and only where they are wanted', () => {
    const table = new VectorTable(2);
    for (let id = 1; id <= 1_000; id++) table.add(id, [10, 100]);
    table.add(2_001, [50, 5]);
    table.add(2_002, [120, 10]);
    table.add(2_003, [1, 2, 3]);
    deepEqual(
      table.nearest([12, 1], 2, () => true).map(({ id, cosine }) => [id, Math.round(cosine * 1_000) / 1_000]),
      [
        [2_002, 1],
        [2_001, 1],
      ],
    );
    deepEqual(
      table.nearest([12, 1], 2, (id) => id < 3).map(({ id }) => id),
      [2, 1],
    );
    deepEqual(
      table.nearest([1, 2, 3], 2, () => true),
      [],
    );
  });

  it('count by how far they are from what is similar by chance', () => {
    const cosines = Array.from({ length: mostMeant }, (_, i) => 0.9 - i / 200);
    const shares = meantShares(cosines);
    deepEqual([shares[0], shares.at(-1)], [1, 0]);
    ok(shares.every((share, i) => i === 0 || share === 0 || share < (shares[i - 1] ?? 0)));
    deepEqual(
      meantShares([0.8, 0.6, 0.3, 0.3]).map((share) => Math.round(share * 100) / 100),
      [1, 0.33, 0, 0],
    );
    deepEqual(meantShares([0.4]), [1]);
    deepEqual(meantShares([]), []);
  });

  it('are asked for as the model wants it', () => {
    equal(forTask('ports', 'query', 'nomic-embed-text:latest'), 'search_query: ports');
    equal(forTask('ports', 'passage', 'nomic-embed-text'), 'search_document: ports');
    equal(forTask('ports', 'query', 'intfloat/multilingual-e5-large'), 'query: ports');
    equal(forTask('ports', 'passage', 'mxbai-embed-large'), 'ports');
    equal(forTask('ports', 'query', 'text-embedding-3-small'), 'ports');
    equal(modelOfSpace(embeddingSpace({ provider: 'ollama', model: 'a b' })), 'ollama/a b');
  });
});

describe('ranking by words and by meaning', () => {
  const passages = [
    'The saloon needs new tyres before winter.',
    'Filler about the harbour.',
    'My car is red.',
    'The gate code is 8007.',
    'More filler about the weather.',
  ].map((text, at) => ({ text, at, group: `g${at}` }));
  const ranked = (query: string, meant: readonly (readonly [at: number, share: number])[]) => {
    const ranker = new PassageRanker<(typeof passages)[number]>(query);
    ranker.add(passages);
    ranker.addMeant(meant.map(([at, share]) => ({ group: `g${at}`, position: 0, share })));
    return ranker.ranked(10).map(({ item, beside, meant: isMeant }) => [item.at, beside, isMeant]);
  };

  it('finds what has none of the words, and says so', () => {
    deepEqual(ranked('which car do I have', []), [[2, null, false]]);
    deepEqual(
      ranked('which car do I have', [
        [0, 1],
        [4, 0.1],
      ]),
      [
        [2, null, false],
        [0, null, true],
        [4, null, true],
      ],
    );
    deepEqual(
      ranked('automobile', [
        [2, 1],
        [0, 0.5],
      ]),
      [
        [2, null, true],
        [0, null, true],
      ],
    );
  });

  it('keeps first what stands there by words, and a token that means itself before everything', () => {
    deepEqual(
      ranked('red car', [
        [0, 1],
        [1, 0.9],
      ])[0],
      [2, null, false],
    );
    deepEqual(
      ranked('filler 8007', [
        [4, 1],
        [1, 0.9],
        [0, 0.8],
      ])[0],
      [3, null, false],
    );
  });
});
