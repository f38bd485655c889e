import assert from 'node:assert/strict';
import { flagHelp, parseFlags, positiveInteger, UsageError, type FlagSpec } from '../../../src/node/cli/flags';
import { inputLines, parseRunCommand } from '../../../src/node/cli/run/runLines';

const specs: FlagSpec[] = [
  { name: 'store', value: 'DIR', required: true, help: 'where the history is' },
  { name: 'approve', value: 'MODE', choices: ['none', 'read', 'all'], help: 'which tools may run' },
  { name: 'window', value: 'N', help: 'tokens' },
  { name: 'json', help: 'print JSON' },
];

describe('parseFlags', () => {
  it('reads both forms', () => {
    assert.deepEqual(parseFlags(['--store', 'x', '--approve=read', '--json'], specs), { store: 'x', approve: 'read', json: 'true' });
  });

  for (const [args, message] of [
    [['--stor', 'x'], /Unknown flag "--stor"\. Known: --store/],
    [['x'], /Unknown argument "x"/],
    [['--store'], /--store needs a value \(DIR\)/],
    [['--store', '--json'], /--store needs a value/],
    [[], /--store is missing: where the history is/],
    [['--store', 'x', '--approve', 'yes'], /--approve is one of none, read, all; "yes" is not/],
    [['--store', 'x', '--json=false'], /--json takes no value; leave it out/],
    [['--store', 'x', '--store', 'y'], /--store is given twice/],
  ] as const) {
    it(`refuses ${JSON.stringify(args)}`, () => {
      assert.throws(
        () => parseFlags(args, specs),
        (error: unknown) => error instanceof UsageError && message.test(error.message),
      );
    });
  }

  it('checks whole numbers', () => {
    assert.equal(positiveInteger({ window: '4000' }, 'window'), 4_000);
    assert.throws(() => positiveInteger({ window: '4k' }, 'window'), /--window is a whole number above 0; "4k" is not/);
  });

  it('explains itself', () => {
    assert.match(flagHelp(specs), /--approve none\|read\|all +which tools may run/);
    const choices = Array.from({ length: 12 }, (_, i) => `choice-${i}`);
    assert.ok(
      flagHelp([...specs, { name: 'kind', value: 'KIND', choices, help: 'which of them' }]).endsWith(
        `--kind ${choices.join('|')}\n${' '.repeat(flagHelp(specs).indexOf('where the history is'))}which of them`,
      ),
    );
  });
});

describe('inputLines', () => {
  /** In pieces of so many bytes; `closed` is called when nobody reads on. */
  async function* pieces(text: string, size: number, closed: () => void = () => undefined): AsyncGenerator<Uint8Array> {
    const all = new TextEncoder().encode(text);
    try {
      for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
    } finally {
      closed();
    }
  }

  async function read(text: string, size: number): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of inputLines(pieces(text, size))) lines.push(line);
    return lines;
  }

  it('are ended by a line feed, with or without a carriage return, and by nothing else that stands in a text', async () => {
    const inside = '"a\u2028b\u2029c\u0085d\u000be\u000cf漢😀\rg"';
    for (const size of [1, 2, 3, 1_000])
      assert.deepEqual(await read(`\ufeff${inside}\r\n\n  \n"\ufeff"\n${inside}`, size), [inside, '', '  ', '"\ufeff"', inside]);
    assert.deepEqual([await read('', 1), await read('\n', 1), await read('a\n', 1), await read('a\r', 1)], [[], [''], ['a'], ['a']]);
  });

  it('may be as long as they like', async () => {
    const long = 'x'.repeat(20 * 1024 * 1024);
    assert.equal((await read(`${long}\n`, 1024 * 1024))[0]?.length, long.length);
  });

  it('come as they are written, and let go of what nobody reads on', async () => {
    let isClosed = false;
    const lines = inputLines(pieces('one\ntwo\nthree\n', 4, () => (isClosed = true)));
    assert.deepEqual([await lines.next(), isClosed], [{ done: false, value: 'one' }, false]);
    await lines.return();
    assert.deepEqual([isClosed, await lines.next()], [true, { done: true, value: undefined }]);
  });
});

describe('parseRunCommand', () => {
  it('reads the commands', () => {
    assert.deepEqual(parseRunCommand('{"cmd":"send","id":1,"text":"hi"}'), { command: { cmd: 'send', id: 1, text: 'hi' } });
    assert.deepEqual(parseRunCommand('{"cmd":"stop"}'), { command: { cmd: 'stop' } });
  });

  it('says which line was refused', () => {
    assert.deepEqual(
      ['{"cmd":"send","id":"a"}', '{"cmd":"sned","id":7}', '{"cmd":"send","id":[]}', '{'].map(
        (line) => (parseRunCommand(line) as { id?: unknown }).id,
      ),
      ['a', 7, undefined, undefined],
    );
  });

  for (const [line, message] of [
    ['{', /Not a JSON line: \{/],
    ['{"cmd":"sned"}', /Unknown cmd "sned"\. Known: send, compact, undo_compaction, preview, .*, stop\./],
    ['3', /Unknown cmd undefined/],
    ['{"cmd":"send","id":1}', /Bad "send": text:/],
    ['{"cmd":"send","text":"x","txt":1}', /Bad "send"/],
  ] as const) {
    it(`refuses ${line}`, () => {
      const parsed = parseRunCommand(line);
      assert.ok('error' in parsed);
      assert.match(parsed.error, message);
    });
  }
});
