import { deepStrictEqual, ok } from 'node:assert';
import ts, { type CallExpression } from 'typescript';
import { english, shown, t, textLocale, useTranslations, wholeNumber } from '../../src/core/l10n';
import { readTranslations, writeTranslations } from '../../src/protocol/l10n';
import { chineseTexts as chinese } from '../support/vscode/chinese';
import { isTranslation, literalsOf, runsWhileLoading, shippedNodes } from '../support/source/userTexts';

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([found]) => found).sort();
}

describe('the texts of the program', function () {
  this.timeout(30_000);
  const calls: { readonly call: CallExpression; readonly place: string }[] = [];
  before(() => {
    for (const { node, place } of shippedNodes()) if (isTranslation(node)) calls.push({ call: node, place: place() });
  });
  const texts = () => new Set(calls.flatMap(({ call }) => literalsOf(call.arguments[0]) ?? []));

  it('are literals, so that they can be found', () => {
    deepStrictEqual(
      calls.filter(({ call }) => literalsOf(call.arguments[0]) === null).map(({ place }) => place),
      [],
    );
    ok(texts().size > 50);
  });

  it('are asked for when they are shown', () => {
    deepStrictEqual(
      calls.filter(({ call }) => isTranslation(call, ['t']) && runsWhileLoading(call)).map(({ place }) => place),
      [],
    );
  });

  it('are all there in Chinese', () => {
    deepStrictEqual(
      [...texts()].filter((text) => !Object.hasOwn(chinese, text)),
      [],
    );
  });

  it('are all used', () => {
    const used = texts();
    deepStrictEqual(
      Object.keys(chinese).filter((text) => !used.has(text)),
      [],
    );
  });

  it('are none of them left in English', () => {
    const words = (text: string) => text.replace(/\{\w+\}|`[^`]+`/g, '');
    deepStrictEqual(
      Object.entries(chinese).filter(([english, text]) => /[a-z]{2}/i.test(words(english)) && !/\p{Script=Han}/u.test(text)),
      [],
    );
  });

  it('keep their placeholders and their code in Chinese', () => {
    const fixed = (text: string) => [
      ...placeholders(text),
      ...[...text.matchAll(/`[^`]+`|\$\([a-z~-]+\)/g)].map(([found]) => found).sort(),
    ];
    const differing = Object.entries(chinese).filter(
      ([english, text]) => JSON.stringify([...new Set(fixed(english))]) !== JSON.stringify([...new Set(fixed(text))]),
    );
    deepStrictEqual(differing, []);
  });
});

describe('what a quick input asks for', function () {
  this.timeout(30_000);

  it('has room in its box, in Chinese as well', () => {
    // A box of VS Code has 560 pixels: about 80 Latin letters, each half as wide as a Chinese one.
    const width = (text: string) => [...text.replace(/\{\w+\}/g, '0000')].reduce((sum, letter) => sum + (letter > '\u2e80' ? 2 : 1), 0);
    const texts = [...shippedNodes()].flatMap(({ node }) => {
      const asked = askedFor(node);
      return asked && isTranslation(asked) ? (literalsOf(asked.arguments[0]) ?? []) : [];
    });
    ok(texts.length > 20);
    deepStrictEqual(
      texts.flatMap((text) => [text, chinese[text] ?? '']).filter((text) => width(text) > 80),
      [],
    );
  });
});

/** What is set as the placeholder of a quick input. */
function askedFor(node: ts.Node): ts.Expression | undefined {
  if (ts.isPropertyAssignment(node) && node.name.getText() === 'placeHolder') return node.initializer;
  const isSet = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isSet && node.left.getText().endsWith('.placeholder') ? node.right : undefined;
}

describe('t', () => {
  afterEach(() => useTranslations({ language: 'en', texts: {} }));

  it('is the English text where there is no other', () => {
    deepStrictEqual(
      [t('Plain'), t('{0} of {1}', 3, 'four'), t('{done} of {all}', { done: 3, all: 4 }), t('toString')],
      ['Plain', '3 of four', '3 of 4', 'toString'],
    );
  });

  it('is the text of the language, in its own order', () => {
    useTranslations({ language: 'zh-cn', texts: { '{0} of {1}': '{1} 中的 {0}', Plain: '普通' } });
    deepStrictEqual([t('Plain'), t('{0} of {1}', 3, 'four'), t('Other')], ['普通', 'four 中的 3', 'Other']);
  });

  it('puts what is put in as it is', () => {
    deepStrictEqual([t('{0} and {1}', '{1}', '$&'), t('{0} and {2}', 'a', 'b')], ['{1} and $&', 'a and {2}']);
  });

  it('recognises what was made in English, with what was put into it', () => {
    useTranslations({
      language: 'zh-cn',
      texts: {
        'The disk is full.': '磁盘已满。',
        '{0} Nothing was sent; it needs {1} tokens.': '{0}没有发送，需要 {1} 个 token。',
        '{0}: {1}': '{0}：{1}',
      },
    });
    const stored = english('{0} Nothing was sent; it needs {1} tokens.', english('The disk is full.'), 12);
    deepStrictEqual(
      [stored, shown(stored)],
      ['The disk is full. Nothing was sent; it needs 12 tokens.', '磁盘已满。没有发送，需要 12 个 token。'],
    );
    deepStrictEqual(
      [shown('Error: of somebody else'), shown('several\nlines (with) [brackets]')],
      ['Error: of somebody else', 'several\nlines (with) [brackets]'],
    );
  });

  it('reaches a page as it is', () => {
    const texts = { 'a "b" <c> & {0}': '“乙”\u2028</meta>' };
    deepStrictEqual(readTranslations('zh-cn', writeTranslations({ language: 'zh-cn', texts })), { language: 'zh-cn', texts });
  });

  it('writes numbers and dates in its language', () => {
    useTranslations({ language: 'zh-cn', texts: {} });
    deepStrictEqual(
      [wholeNumber(1_234_567), new Intl.DateTimeFormat(textLocale(), { dateStyle: 'long', timeZone: 'UTC' }).format(0)],
      ['1,234,567', '1970年1月1日'],
    );
  });
});
