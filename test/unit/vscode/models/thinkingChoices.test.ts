import assert from 'node:assert/strict';
import type { ModelInfo, ThinkingLevel } from '../../../../src/core/models/modelInfo';
import { thinkingChoices } from '../../../../src/vscode/models/modelTexts';

describe('the levels of thinking that are offered', () => {
  const shown = (thinking: ModelInfo['thinking'], current: ThinkingLevel | null = null) =>
    thinkingChoices(current, { name: 'M', ...(thinking ? { thinking } : {}) }).map(({ label, level }) => [
      label.replace('$(check)', '✓'),
      level,
    ]);

  it('are those that the model can be told', () => {
    assert.deepEqual(shown(undefined, 'low'), [
      ['Automatic', null],
      ['Off', 'off'],
      ['✓ Low', 'low'],
      ['Medium', 'medium'],
      ['High', 'high'],
    ]);
    assert.deepEqual(shown('levels'), [
      ['✓ Automatic', null],
      ['Off', 'off'],
      ['Low', 'low'],
      ['Medium', 'medium'],
      ['High', 'high'],
    ]);
    assert.deepEqual(shown('switch', 'high'), [
      ['Automatic', null],
      ['Off', 'off'],
      ['✓ On', 'medium'],
    ]);
  });

  it('come with the reason where there are fewer', () => {
    assert.deepEqual(shown('always', 'high'), [
      ['Automatic', null],
      ['Low', 'low'],
      ['Medium', 'medium'],
      ['✓ High', 'high'],
      ['$(info) Not off', undefined],
    ]);
    assert.deepEqual(shown('none', 'high'), [
      ['✓ Automatic', null],
      ['$(info) No levels', undefined],
    ]);
    assert.equal(thinkingChoices(null, { name: 'Llama', thinking: 'none' }).at(-1)?.description, 'Llama cannot be told how much to think');
  });
});
