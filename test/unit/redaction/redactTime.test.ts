import assert from 'node:assert/strict';
import { redactText } from '../../../src/core/redaction/redactText';
import { anthropicFailure } from '../../../src/node/models/anthropic/anthropicFailure';
import { HttpError, httpFailure } from '../../../src/node/models/httpFailure';
import { secretCorpus } from './secretCorpus';

const small = 30_000;
const times = 8;
/** So many times as long is not linear any more. */
const most = times * 3;
/** Milliseconds that the short text counts for at least: a long one that takes no more than `unsuspicious` needs no comparison. */
const least = 5;
const unsuspicious = least * most;

/** Pieces that patterns begin with, and that they could read on from to the end in vain. */
const pieces: readonly string[] = [
  ...[
    '0a',
    ' ',
    '\t',
    '\n',
    'a',
    'A',
    '.',
    '@',
    ':',
    '/',
    '://',
    '://a:',
    'a@',
    '\\',
    '\\n',
    '"',
    "'",
    '`',
    '=',
    '==',
    '-',
    '_',
    '%',
    '<',
    '<a',
    '<script',
    '&',
    '?',
    ';',
    'a.',
    'a:',
    'a=',
    'a b ',
    'a-',
    'abc ',
    `${'abc '.repeat(23)}ab `,
    '"--api-',
    '"--token", ',
    '中',
    '\u{1F30A}',
    '\0',
  ],
  ...[
    'password',
    'password ',
    'password=',
    'password: ',
    'password="',
    "password='",
    'password=\\"',
    'password: (',
    'password: $',
    'token=token ',
    'token: a',
    'token = ',
    'passphrase: a ',
    'api key ',
    'key key ',
    '--password ',
    '<password>',
    '<token>',
    'Cookie: ',
    'Cookie: a=',
    'Authorization: ',
    'Authorization: Bearer ',
  ],
  ...[
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    '-----END PRIVATE KEY-----',
    'Private-Lines: 1 ',
    'eyJ',
    'eyJ-',
    'eyJaaaaaaaa.',
    '.eyJ',
    'sk-',
    '-sk-',
    ' sk-a',
    '\\nsk-',
    '%AAsk-',
    'ghp_',
    'xoxb-',
    'SG.',
    '.SG.',
    'glpat-.',
    'ya29.',
    '.ya29.',
    'MaaaaaaaaaaaaaaaaaaaaaaaA.',
    '123456789:',
    'AccountKey=',
  ],
  ...[
    'hooks.slack.com/services/',
    'discord.com/api/webhooks/1/',
    '?sig=',
    '&key=',
    'Bearer ',
    'Basic ',
    ' -u a',
    'mysql ',
    'mysql -',
    'curl -u ',
    'login a ',
    'login a password ',
    'docker login ',
    'name: ',
    'name: secret ',
    'identified by ',
    'define("',
    'net use ',
  ],
  ...['/home/', '/home', '/Users/', 'C:\\', 'C:\\Users\\', '\\\\', '\\\\a', '-home-', '-home-a', 'C--Users-', '%2Fhome%2F', '/mnt/c'],
  `${'A'.repeat(64)}\n`,
  `${'aB3'.repeat(21)}x\n`,
  `${'aB3'.repeat(21)}x\\n`,
  `${'a'.repeat(80)}:`,
  'model ',
  'model not ',
  'context ',
  'maximum context length is ',
  '1,',
  'tokens > ',
];

describe('redaction takes linear time', () => {
  const work: Readonly<Record<string, (text: string) => unknown>> = {
    'of a text': redactText,
    'of what a server says in an error': (text) => httpFailure(new HttpError(404, text), [], 0),
    'of what a server says in JSON': (text) => httpFailure(new HttpError(400, JSON.stringify({ error: { message: text } })), [], 0),
    'of whatever the Anthropic client throws': (text) => anthropicFailure(new Error(text), [], 0),
  };
  for (const [name, run] of Object.entries(work)) {
    it(`${name}, whatever is in it`, function () {
      this.timeout(240_000);
      for (const piece of [
        ...pieces,
        ...(name === 'of a text' ? secretCorpus.map(({ text }) => text.slice(0, Math.ceil(text.length / 2))) : []),
      ]) {
        const text = (size: number) => piece.repeat(Math.ceil(size / piece.length));
        const [short, long] = [text(small), text(small * times)];
        if (took(() => run(long)) <= unsuspicious) continue;
        // A machine that is busy makes one measurement long, not every one of them.
        let ratio = Infinity;
        for (let tries = 0; tries < 8 && ratio > most; tries++) {
          const first = Math.max(
            least,
            took(() => run(short)),
          );
          ratio = took(() => run(long)) / first;
        }
        assert.ok(ratio <= most, `${JSON.stringify(piece.slice(0, 40))}: ${times} times as much took ${ratio.toFixed(0)} times as long`);
      }
    });
  }
});

/** Milliseconds of the processor: what else runs on this machine makes it no longer. */
function took(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  return process.cpuUsage(start).user / 1000;
}
