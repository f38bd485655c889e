import { strictEqual } from 'node:assert';
import * as fc from 'fast-check';
import { visibleText } from '../../../src/core/base/text';

describe('text of which every character can be seen', () => {
  const cases: readonly (readonly [name: string, text: string, drawn: string])[] = [
    ['what is written every day', 'npm run "tëst" -- --grep=词 | tee ~/日志.txt 👍', 'npm run "tëst" -- --grep=词 | tee ~/日志.txt 👍'],
    ['the direction of text', 'a\u202eb\u2066c\u2069\u200f\u061c', 'a⟦U+202E⟧b⟦U+2066⟧c⟦U+2069⟧⟦U+200F⟧⟦U+061C⟧'],
    ['zero width', 'r\u200bm\u200c\u200d\u2060\ufeff\u00ad\u034f', 'r⟦U+200B⟧m⟦U+200C⟧⟦U+200D⟧⟦U+2060⟧⟦U+FEFF⟧⟦U+00AD⟧⟦U+034F⟧'],
    ['controls', 'echo hi\rrm \0\x1b[8m\x7f\x85\b', 'echo hi⟦U+000D⟧rm ⟦U+0000⟧⟦U+001B⟧[8m⟦U+007F⟧⟦U+0085⟧⟦U+0008⟧'],
    ['tags and variations', 'x\u{e0041}\u{e007f}\ufe0f\u{e0100}\u180b', 'x⟦U+E0041⟧⟦U+E007F⟧⟦U+FE0F⟧⟦U+E0100⟧⟦U+180B⟧'],
    [
      'blanks',
      'a\u00a0b\u2003c\u3000d\u2028e\u2029f\u3164g\u115f\u2800\uffa0',
      'a⟦U+00A0⟧b⟦U+2003⟧c⟦U+3000⟧d⟦U+2028⟧e⟦U+2029⟧f⟦U+3164⟧g⟦U+115F⟧⟦U+2800⟧⟦U+FFA0⟧',
    ],
    ['what is no character', 'a\ud800b\ue000c\uffffd', 'a⟦U+D800⟧b⟦U+E000⟧c⟦U+FFFF⟧d'],
    ['ends of lines in a name', 'a\nb\tc', 'a⟦U+000A⟧b⟦U+0009⟧c'],
  ];
  for (const [name, text, drawn] of cases) it(`draws ${name}`, () => strictEqual(visibleText(text), drawn));

  it('keeps the lines of what is shown in lines, but not what goes back to their beginning', () => {
    strictEqual(visibleText('a\n\tb\r\nc', 'lines'), 'a\n\tb⟦U+000D⟧\nc');
  });

  it('is the same when it is drawn twice, and loses nothing that can be seen', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const drawn = visibleText(text);
        strictEqual(visibleText(drawn), drawn);
        strictEqual(
          drawn.replace(/⟦U\+([0-9A-F]{4,6})⟧/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16))),
          text,
        );
      }),
    );
  });
});
