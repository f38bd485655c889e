import assert from 'node:assert/strict';
import { BranchBuilder } from '../support/chat/branchBuilder';
import type { StoredEntry } from '../../src/core/session/entry';
import { titleFrom } from '../../src/core/session/session';
import { parseCheckpoint } from '../../src/core/compaction/checkpoints/checkpointText';
import { analyseText, itemsOf } from '../../src/core/compaction/measure/textAnalysis';
import { extractIdentifiers } from '../../src/core/compaction/measure/identifiers';
import { formatOf, isProse, parseSessionState } from '../../src/core/compaction/summary/summaryFormat';
import { userSentences, standingOrders } from '../../src/core/compaction/ledgers/userLedger';
import { emptyWorkLedger, extendWorkLedger } from '../../src/core/compaction/ledgers/workLedger';
import { estimateTokens } from '../../src/core/context/measure/estimateTokens';
import { excerpt } from '../../src/core/context/projection/excerpt';
import { rankPaths } from '../../src/core/mentions/rankPaths';
import { parseSearchText } from '../../src/core/recall/parseSearchText';
import { snippet } from '../../src/core/recall/snippet';
import { splitPassages, splitSentences } from '../../src/core/recall/splitText';
import { queryTerms, tokenizeTerms } from '../../src/core/recall/tokenizeTerms';
import { changedRange } from '../../src/core/tools/files/editTools';
import { globMatcher } from '../../src/core/tools/guard/glob';
import { pageText } from '../../src/core/tools/files/textFile';
import { looksSecret } from '../../src/core/tools/guard/secretFiles';
import { parseForeign, leadingMembers } from '../../src/core/transfer/formats/foreignJson';
import { plain, plainText as cliText } from '../../src/node/cli/terminal';
import { contextLimitOf, isContextOverflow, plainText } from '../../src/node/models/failureText';
import { parseSlash } from '../../src/protocol/slashCommands';
import { escapeMarkdown, plainLabel } from '../../src/vscode/plainText';
import { fileLink } from '../../src/vscode/composer/fileLink';
import { closeInline } from '../../webview-ui/render/streamedMarkdown';
import { testFrames } from '../support/chat/testFrames';

/** Repeated, or once in front of what is: everything that some expression or scanner of ours could begin anew at. */
const pieces = [
  'a',
  'A',
  'Aa',
  '1',
  ',111',
  ' ',
  '\n',
  '\r\n',
  ' \n',
  '\t',
  '.',
  '. ',
  '! ',
  '/',
  '//',
  '\\',
  '/a',
  './',
  ':',
  ':1',
  '::a',
  '#',
  '#1',
  '#L1',
  '-',
  '_',
  '_a',
  '__',
  '@',
  '@a',
  '*',
  '**',
  '~~',
  '`',
  '```',
  '```\n',
  '` ``',
  '[',
  '![',
  '[a](',
  '](',
  '](b',
  '(',
  ')',
  '<',
  '<a',
  '<script>',
  '<style ',
  '<!--',
  '>',
  '> ',
  '- ',
  '1. ',
  '|',
  '"',
  '\\"',
  "'",
  '{',
  '[{',
  '{"a":',
  '}',
  ']',
  '=',
  '&',
  '漢',
  '。',
  'é',
  '😀',
  '\u0301',
  '\0',
  '\u200b',
  '\ud800',
  'x.',
  'a@',
  'a-',
  'a.b',
  'error ',
  'exception',
  'TODO: ',
  'must ',
  'never ',
  'decided ',
  'because ',
  'file:',
  'after:',
  '$ ',
  'https://',
  'http://a.',
  '--',
  '--a',
  '0x',
  'a/b/',
  'a b ',
];
const heads = ['', '"', '<', '[', '`', '{', '/', '#', 'a', '1', '- ', '{"a":"'];
const tails = ['', '!', '\n', 'a', '\0'];

const [small, large] = [32_000, 128_000];
/** What takes less is not looked at more closely: 32,000 squared comparisons take longer. */
const suspiciousMs = 100;
/** Four times the text takes a linear function four times as long, and a quadratic one sixteen times. */
const mostRatio = 9;

function messages(text: string): readonly StoredEntry[] {
  const b = new BranchBuilder();
  b.user(text);
  b.assistant(text);
  return b.entries;
}

function called(text: string): readonly StoredEntry[] {
  const b = new BranchBuilder();
  b.call('c', 'run_command', { command: text.slice(0, 2_000) });
  b.result('c', `exit code 1\n${text}`);
  return b.entries;
}

const takers: Readonly<Record<string, (text: string) => unknown>> = {
  'the terms of a text': tokenizeTerms,
  'the terms of a query': queryTerms,
  passages: (text) => splitPassages(text),
  sentences: (text) => splitSentences(text),
  'a search': parseSearchText,
  'a snippet': (text) => snippet(text, ['needle', 'a']),
  identifiers: extractIdentifiers,
  'standing orders': standingOrders,
  'sentences of the user': userSentences,
  'the analysis of a text': (text) => analyseText(itemsOf(messages(text)), 2_000, estimateTokens),
  'the ledger of work': (text) => extendWorkLedger(emptyWorkLedger, called(text), 2_000, estimateTokens),
  'a checkpoint': parseCheckpoint,
  'the state of a session': parseSessionState,
  'prose or not': isProse,
  'a summary': (text) =>
    (['checkpoint', 'session-state', 'sections', 'narrative', 'research'] as const).map((name) => formatOf(name).read(text)),
  'a title': titleFrom,
  'an excerpt': (text) => excerpt(testFrames, text, 100_000, 500, '#1'),
  'a mention': (text) => rankPaths(['src/a.ts', text], text.slice(0, 50), 5),
  'a glob against a path': (text) => globMatcher(text.slice(0, 200))(text),
  'a path that is asked about': looksSecret,
  'a page of a text': (text) => pageText(text, 1, 10),
  'what has changed': (text) => changedRange(text, `${text}x`),
  'JSON of another program': parseForeign,
  'how an object begins': (text) => leadingMembers(text),
  'a line of the terminal': plain,
  'a text of the terminal': cliText,
  'an error page': plainText,
  'an overflow': isContextOverflow,
  'a limit': contextLimitOf,
  'a command of the composer': parseSlash,
  'a link to a file': fileLink,
  'a label': plainLabel,
  'text within Markdown': escapeMarkdown,
  'Markdown that grows': closeInline,
};

describe('text that somebody else has written', function () {
  this.timeout(300_000);

  for (const [name, take] of Object.entries(takers)) {
    it(`takes no more than linear time: ${name}`, () => {
      for (const [i, piece] of pieces.entries()) {
        const of = (length: number) => heads[i % heads.length]! + piece.repeat(Math.ceil(length / piece.length)) + tails[i % tails.length]!;
        const bare = (length: number) => piece.repeat(Math.ceil(length / piece.length)) + '!';
        for (const text of [of, bare]) {
          if (msOf(take, text(small)) < suspiciousMs) continue;
          // A machine that is busy makes one measurement long, not every one of them.
          const ratios: number[] = [];
          while (ratios.length < 3 && !ratios.some((ratio) => ratio < mostRatio))
            ratios.push(msOf(take, text(large)) / Math.max(1, msOf(take, text(small))));
          assert.ok(
            Math.min(...ratios) < mostRatio,
            `${JSON.stringify(text(20))}: ${ratios.map((ratio) => ratio.toFixed(1)).join()} times as long for four times the text`,
          );
        }
      }
    });
  }
});

/** Of the processor: what else runs on this machine makes it no longer. */
function msOf(take: (text: string) => unknown, text: string): number {
  const began = process.cpuUsage();
  take(text);
  return process.cpuUsage(began).user / 1000;
}
