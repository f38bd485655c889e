import assert from 'node:assert/strict';
import { priceOf } from '../../../../src/core/cost/prices';
import { priceNote } from '../../../../src/vscode/models/modelTexts';

describe('what a model costs, in the picker', () => {
  const cheap = { input: 1, output: 5 };
  const dear = { input: 5, output: 26 };

  it('comes with how much more that is than now', () => {
    assert.equal(priceNote(dear, cheap), '$(arrow-up) 5.2 × the model in use · $5 in, $26 out per million tokens');
    assert.equal(priceNote({ input: 1, output: 150 }, cheap), '$(arrow-up) 30 × the model in use · $1 in, $150 out per million tokens');
    assert.equal(priceNote(cheap, { input: 0, output: 0 }), '$(arrow-up) the model in use is free · $1 in, $5 out per million tokens');
  });

  it('stands alone where it is no more, or nobody knows what the other one costs', () => {
    for (const inUse of [cheap, dear, undefined]) assert.equal(priceNote(cheap, inUse), '$1 in, $5 out per million tokens');
    assert.equal(priceNote({ input: 0, output: 0 }, { input: 0, output: 0 }), '$0 in, $0 out per million tokens');
  });

  it('is none for a model on the user’s own machine', () => {
    assert.equal(priceNote(priceOf({}, 'ollama', 'llama3.1:8b'), dear), 'local, no price');
    assert.equal(priceNote(priceOf({}, 'ollama', 'llama3.1:8b'), undefined), 'local, no price');
  });

  it('is said to be unknown, and what follows from that where it was known', () => {
    assert.equal(priceNote(undefined, undefined), 'price unknown');
    assert.equal(priceNote(undefined, cheap), '$(warning) price unknown: what it costs is not counted');
  });
});
