import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { agentPrograms, type ServerCommand } from '../../../src/node/mcp/connect/agentPrograms';
import { SettingsUnreadable, withJsonEntry, withoutJsonEntry } from '../../../src/node/mcp/connect/jsonSettings';
import { readSettings, replaceSettings } from '../../../src/node/mcp/connect/settingsFile';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

const server: ServerCommand = {
  command: 'C:\\Program Files\\node.exe',
  args: ['/home/a "b"/cli.js', 'mcp', '--all'],
  env: { ELECTRON_RUN_AS_NODE: '1' },
};
const blank = fc.constantFrom('', ' ', '\n', '\n  ', '\t', '\r\n', ' // a comment, with "quotes" and }\n', '/* { */', '\n\n    ');
const scalar = fc.oneof(
  fc.string().map((text) => JSON.stringify(text)),
  fc.integer().map(String),
  fc.constantFrom('true', 'null', '-1.5e3'),
);

/** A document as people write them: comments and white space anywhere, commas at the end. */
const value: fc.Memo<string> = fc.memo((depth) =>
  depth <= 1 ? scalar : fc.oneof(scalar, listOf('[', ']', value(depth - 1)), object(fc.string(), depth - 1)),
);
const object = (name: fc.Arbitrary<string>, depth: number) =>
  listOf(
    '{',
    '}',
    fc.tuple(name, blank, blank, value(depth)).map(([key, a, b, what]) => `${JSON.stringify(key)}${a}:${b}${what}`),
  );
function listOf(open: string, close: string, one: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(blank, one, blank), { maxLength: 4 }), blank, fc.boolean())
    .map(
      ([all, last, comma]) =>
        `${open}${all.map(([a, what, b]) => a + what + b).join(',')}${comma && all.length > 0 ? ',' : ''}${last}${close}`,
    );
}
const names = fc.constantFrom('mcpServers', 'mcp', 'other', 'x"y', 'theme');
const document = fc
  .tuple(blank, object(names, 3), blank, fc.boolean())
  .map(([before, root, after, bom]) => `${bom ? '\ufeff' : ''}${before}${root}${after}`);

describe('settings files of other programs', () => {
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());
  const programs = () => agentPrograms({ home: temp.path, platform: 'linux', env: {} });

  it('are, disconnected, what they were before: byte for byte, comments and all', () => {
    fc.assert(
      fc.property(document, (text) => {
        let connected: string;
        try {
          connected = withJsonEntry(text, 'mcpServers', 'threadkeeper', server);
        } catch (error) {
          assert.equal(error instanceof SettingsUnreadable, true);
          return;
        }
        assert.equal(connected === text, false);
        assert.equal(withoutJsonEntry(connected, 'mcpServers', 'threadkeeper'), text);
        assert.equal(withJsonEntry(connected, 'mcpServers', 'threadkeeper', server), connected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('hold the entry, and all they held before, for a reader of JSON', () => {
    const plain = fc.dictionary(names, fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<never>));
    fc.assert(
      fc.property(plain, fc.constantFrom(undefined, 2, '\t'), (settings, indent) => {
        const held = settings['mcpServers'];
        const isObject = typeof held === 'object' && held !== null && !Array.isArray(held);
        if (held !== undefined && !isObject) return;
        if (isObject && Object.keys(held).includes('__proto__')) return;
        const connected = withJsonEntry(JSON.stringify(settings, null, indent), 'mcpServers', 'threadkeeper', server);
        const read = JSON.parse(connected) as { mcpServers: Record<string, unknown> };
        assert.deepEqual(read.mcpServers['threadkeeper'], server);
        delete read.mcpServers['threadkeeper'];
        assert.deepEqual(read, JSON.parse(JSON.stringify({ ...settings, mcpServers: held ?? {} })));
      }),
    );
  });

  it('are left alone when they cannot be read', () => {
    for (const text of [
      '[]',
      '{"mcpServers": []}',
      '{"a": 1',
      '{"a" 1}',
      '{} {}',
      '{"a": /* }',
      '"x"',
      '{"a":',
      '{"a": }',
      '{"a": "x',
      '{"\\q": 1}',
    ])
      assert.throws(() => withJsonEntry(text, 'mcpServers', 'threadkeeper', server), SettingsUnreadable, text);
    const codex = programs().find(({ id }) => id === 'codex')!;
    for (const text of ['[mcp_servers.threadkeeper]\ncommand = "x"\n', 'mcp_servers = {}\n', 'mcp_servers.a.command = "x"\n'])
      assert.throws(() => codex.connected(text, server), SettingsUnreadable, text);
  });

  it('lose nothing else when the entry has been moved or changed by hand', () => {
    for (const [text, without] of [
      ['{"mcpServers": {"a": 1, "threadkeeper": {"command": "x"}}}', '{"mcpServers": {"a": 1}}'],
      ['{"mcpServers": {"a": 1 /* mine */,\n  "threadkeeper": {}\n}}', '{"mcpServers": {"a": 1 /* mine */\n}}'],
      ['{"mcpServers": {"threadkeeper": {/* off */}, "a": 1}}', '{"mcpServers": { "a": 1}}'],
      ['{"mcpServers": {"a": 1}}', undefined],
    ] as const)
      assert.equal(withoutJsonEntry(text, 'mcpServers', 'threadkeeper'), without);
  });

  it('of every program take the entry and give it back, from no file, too', () => {
    for (const { id, connected, disconnected } of programs()) {
      const before = id === 'codex' ? 'model = "x"\n\n[mcp_servers.other]\ncommand = "y"' : '{\n  // mine\n  "a": 1\n}\n';
      for (const text of [null, before, `${before}\n`]) {
        const made = connected(text, server);
        assert.equal(disconnected(made), text, id);
        assert.equal(disconnected(text ?? ''), undefined, id);
      }
    }
    const codex = programs().find(({ id }) => id === 'codex')!;
    assert.equal(
      codex.connected(null, server),
      [
        '# >>> threadkeeper: written by Connect an Agent, taken out by Disconnect an Agent',
        '[mcp_servers.threadkeeper]',
        'command = "C:\\\\Program Files\\\\node.exe"',
        'args = ["/home/a \\"b\\"/cli.js", "mcp", "--all"]',
        'env = { ELECTRON_RUN_AS_NODE = "1" }',
        '# <<< threadkeeper',
        '',
      ].join('\n'),
    );
  });

  it('are replaced in one step, through links, and only as they were shown', async () => {
    mkdirSync(join(temp.path, 'dotfiles'));
    const file = join(temp.path, 'settings.json');
    writeFileSync(join(temp.path, 'dotfiles', 'real.json'), '{}', { mode: 0o640 });
    symlinkSync(join(temp.path, 'dotfiles', 'real.json'), file);
    await replaceSettings(file, '{}', '{"a":1}');
    assert.equal(readFileSync(join(temp.path, 'dotfiles', 'real.json'), 'utf8'), '{"a":1}');
    await assert.rejects(replaceSettings(file, '{}', '{"b":1}'), /was changed meanwhile/);
    assert.equal(await readSettings(file), '{"a":1}');
    const fresh = join(temp.path, 'deep', 'new.json');
    await replaceSettings(fresh, null, '{}');
    await replaceSettings(fresh, '{}', null);
    assert.equal(await readSettings(fresh), null);
  });

  it('stand behind links that lead to nothing yet, and are taken away there', async () => {
    const [outer, inner, file] = ['outer.json', 'inner.json', 'kept.json'].map((name) => join(temp.path, name)) as [string, string, string];
    symlinkSync('inner.json', outer);
    symlinkSync(file, inner);
    await replaceSettings(outer, null, '{"a":1}');
    assert.deepEqual([lstatSync(outer).isSymbolicLink(), readFileSync(file, 'utf8')], [true, '{"a":1}']);
    await replaceSettings(outer, '{"a":1}', null);
    assert.deepEqual([lstatSync(outer).isSymbolicLink(), existsSync(file), await readSettings(outer)], [true, false, null]);
    mkdirSync(join(temp.path, 'deep', 'agent'), { recursive: true });
    symlinkSync(join(temp.path, 'deep', 'agent'), join(temp.path, 'linked'));
    symlinkSync('../shared.json', join(temp.path, 'linked', 'mcp.json'));
    await replaceSettings(join(temp.path, 'linked', 'mcp.json'), null, '{"b":1}');
    assert.equal(readFileSync(join(temp.path, 'deep', 'shared.json'), 'utf8'), '{"b":1}');
    symlinkSync('round.json', join(temp.path, 'round.json'));
    await assert.rejects(replaceSettings(join(temp.path, 'round.json'), null, '{}'), { code: 'ELOOP' });
  });
});
