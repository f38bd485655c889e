import { deepStrictEqual } from 'node:assert';
import type { ModelInfo } from '../../../../src/core/models/modelInfo';
import { ModelNames } from '../../../../src/vscode/models/modelNames';

/** What outlives the window. */
function memory(): ConstructorParameters<typeof ModelNames>[0] {
  let kept: readonly (readonly [string, string])[] = [];
  return { modelNames: () => [...kept], setModelNames: async (names) => void (kept = structuredClone(names)) };
}

const info = (id: string, name: string, over: Partial<ModelInfo> = {}): ModelInfo => ({
  provider: 'openai-compatible',
  id,
  name,
  window: 1,
  maxOutput: 1,
  source: 'provider',
  ...over,
});

describe('the names of models', () => {
  it('outlive the window that heard them, and those that nobody said are ids', () => {
    const kept = memory();
    new ModelNames(kept).learn([info('acme/large-1', 'Acme Large'), info('bare', 'bare'), info('guessed', 'A Guess', { source: 'table' })]);
    const names = new ModelNames(kept);
    deepStrictEqual(
      ['acme/large-1', 'bare', 'guessed', 'claude-sonnet-4-5-20250929', 'offline', ''].map((id) => names.of(id)),
      ['Acme Large', 'bare', 'guessed', 'Claude Sonnet 4.5', 'Offline', ''],
    );
    deepStrictEqual(kept.modelNames(), [['acme/large-1', 'Acme Large']]);
  });

  it('are told to those who asked in vain, once', () => {
    const names = new ModelNames(memory());
    const told: string[][] = [];
    names.onDidLearn((ids) => told.push([...ids]));
    names.of('acme/large-1');
    names.learn([info('other', 'Other')]);
    deepStrictEqual(told, []);
    names.learn([info('acme/large-1', 'Acme Large')]);
    names.learn([info('acme/large-1', 'Acme Large')]);
    names.learn([info('acme/large-1', 'Acme Large 2')]);
    deepStrictEqual([told, names.of('acme/large-1')], [[['acme/large-1']], 'Acme Large 2']);
  });

  it('are forgotten where there are too many, those not heard of for longest first', () => {
    const kept = memory();
    const names = new ModelNames(kept);
    names.learn([info('first', 'First'), info('second', 'Second')]);
    names.learn([info('first', 'First again'), ...Array.from({ length: 1_999 }, (_, at) => info(`m${at}`, `Model ${at}`))]);
    deepStrictEqual(
      { modelNamesCount: kept.modelNames().length, ofFirst: names.of('first'), ofSecond: names.of('second') },
      { modelNamesCount: 2_000, ofFirst: 'First again', ofSecond: 'second' },
    );
  });
});
