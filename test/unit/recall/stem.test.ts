import { deepEqual, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { stem } from '../../../src/core/recall/stem';
import { substringsOf } from '../../../src/core/recall/tokenizeTerms';

describe('stemmer', () => {
  it('gives the results of the paper', () => {
    const expected: Record<string, string> = {
      caresses: 'caress', ponies: 'poni', ties: 'ti', cats: 'cat', feed: 'feed', agreed: 'agre', plastered: 'plaster', bled: 'bled',
      motoring: 'motor', sing: 'sing', conflated: 'conflat', troubled: 'troubl', sized: 'size', hopping: 'hop', tanned: 'tan',
      falling: 'fall', hissing: 'hiss', fizzed: 'fizz', failing: 'fail', filing: 'file', happy: 'happi', sky: 'sky', crying: 'cry', playing: 'plai',
      relational: 'relat', conditional: 'condit', rational: 'ration', valenci: 'valenc', digitizer: 'digit', conformabli: 'conform',
      radicalli: 'radic', differentli: 'differ', vileli: 'vile', analogousli: 'analog', vietnamization: 'vietnam', predication: 'predic',
      operator: 'oper', feudalism: 'feudal', decisiveness: 'decis', hopefulness: 'hope', callousness: 'callous', formaliti: 'formal',
      sensitiviti: 'sensit', sensibiliti: 'sensibl', triplicate: 'triplic', formative: 'form', formalize: 'formal', electriciti: 'electr',
      electrical: 'electr', hopeful: 'hope', goodness: 'good', revival: 'reviv', allowance: 'allow', inference: 'infer', airliner: 'airlin',
      gyroscopic: 'gyroscop', adjustable: 'adjust', defensible: 'defens', irritant: 'irrit', replacement: 'replac', adjustment: 'adjust',
      dependent: 'depend', adoption: 'adopt', homologou: 'homolog', communism: 'commun', activate: 'activ', angulariti: 'angular',
      homologous: 'homolog', effective: 'effect', bowdlerize: 'bowdler', probate: 'probat', rate: 'rate', cease: 'ceas', controll: 'control', roll: 'roll',
    };
    deepEqual(Object.fromEntries(Object.keys(expected).map((word) => [word, stem(word)])), expected);
  });

  it('leaves short words, numbers and other alphabets alone', () => {
    deepEqual(['is', 'v1', '8192', 'über', 'данные', '漢字', ''].map(stem), ['is', 'v1', '8192', 'über', 'данные', '漢字', '']);
  });

  it('keeps, for every word, the substring by which texts with that stem are found', () => {
    const syllable = fc.constantFrom('a', 'o', 'ba', 'te', 'iz', 'ly', 'ent', 'cr', 'st', 'at', 'bl', 'ope', 'ck', 'y', 'll', 'ss');
    const suffix = fc.constantFrom(
      's', 'es', 'ies', 'y', 'ed', 'ing', 'ly', 'ation', 'ations', 'ational', 'ization', 'izing', 'izer', 'ability', 'bility', 'bly', 'ble',
      'ness', 'iveness', 'ivity', 'ence', 'ency', 'ently', 'al', 'ally', 'ality', 'ical', 'icate', 'ful', 'ate', 'ated', 'ating', 'e', 'er', 'ion', '',
    );
    fc.assert(
      fc.property(fc.array(syllable, { minLength: 1, maxLength: 4 }), suffix, suffix, (root, one, two) => {
        const word = root.join('') + one + two;
        ok(word.includes(substringsOf([stem(word)])[0] ?? ''), word);
      }),
      { numRuns: 3_000 },
    );
  });
});
