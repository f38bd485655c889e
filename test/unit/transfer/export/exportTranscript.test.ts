import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../../../src/core/errors';
import type { SessionStore } from '../../../../src/core/ports';
import type { EntryContent } from '../../../../src/core/session/entry';
import { redactText, redactValue } from '../../../../src/core/redaction/redactText';
import { exportMarkdown, exportSessions, type ExportFormat } from '../../../../src/node/transfer/export/exportSessions';
import { compactionContent } from '../../../support/chat/compactionContent';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../../support/store/storeTemp';

describe('an export to be read', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let session: string;

  beforeEach(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
    session = (await store.createSession({ uuid: testUuid(), channel: 'vscode', title: 'Tides <b> # *x*', createdAt: 1_763_800_000_000 }))
      .uuid;
    const picture = await store.putBlob(new Uint8Array([1, 2, 3]), 'image/png');
    let parent: string | null = null;
    const contents: EntryContent[] = [
      {
        type: 'message',
        role: 'user',
        text: 'Look at <img src=x onerror=alert(1)> and /home/ada/notes',
        attachments: [{ kind: 'image', name: '"a".png', hash: picture, mime: 'image/png' }],
      },
      { type: 'thinking', text: 'hm' },
      { type: 'tool_call', callId: 'c', name: 'read_file', input: { path: '</script><script>' } },
      { type: 'tool_result', callId: 'c', name: 'read_file', text: '```\n& <fence>', status: 'error' },
      compactionContent('op', null, { summaryText: 'SUMMARY' }),
      {
        type: 'message',
        role: 'assistant',
        text: '# Done\n\n[a](javascript:alert(1)) [b](https://example.org/?a=1&b=2) ![p](https://example.org/p.png)\n\n- `x<y`\n\n<script>alert(2)</script>',
        model: 'claude-test',
      },
    ];
    for (const content of contents) {
      const entry = userMessage(session, parent, '', { content });
      await store.append(session, { entries: [entry] });
      parent = entry.uuid;
    }
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  async function exported(format: ExportFormat, redact = false, sessions = [session]): Promise<string> {
    let text = '';
    const all = await Promise.all(sessions.map(async (uuid) => (await store.session(uuid))!));
    for await (const piece of exportSessions(store, all, format, { redact })) text += piece;
    return text;
  }

  it('as Markdown has everything that was said, compacted messages too', async () => {
    const text = await exported('md');
    assert.ok(text.startsWith('# Tides \\<b\\> \\# \\*x\\*\n'), text.slice(0, 60));
    for (const part of [
      'Look at <img src=x onerror=alert(1)>',
      '- attached: "a".png (image/png)',
      '**Thinking**',
      '> hm',
      '**Used read\\_file**',
      '"path": "</script><script>"',
      '````\n```\n& <fence>\n````',
      '> SUMMARY',
      '## claude-test · ',
      '# Done',
    ]) {
      assert.ok(text.includes(part), `${part} in\n${text}`);
    }
  });

  it('as a page runs nothing, fetches nothing and shows what was written', async () => {
    const page = await exported('html');
    assert.doesNotMatch(
      page,
      /<script|<img(?! alt="&quot;a&quot;\.png" src="data:image\/png;base64,AQID">)|onerror=alert\(1\)>|href="javascript|src="http/i,
    );
    for (const part of [
      '&lt;img src=x onerror=alert(1)&gt;',
      '&lt;script&gt;alert(2)&lt;/script&gt;',
      'src="data:image/png;base64,AQID"',
      '<a href="https://example.org/?a=1&amp;b=2"',
      '<code>x&lt;y</code>',
      '&amp; &lt;fence&gt;',
      "default-src 'none'",
      '<h3>Done</h3>',
    ]) {
      assert.ok(page.includes(part), `${part} in\n${page}`);
    }
  });

  it('is headed by its session, and where it has several by each of them', async () => {
    const second = (await store.createSession({ uuid: testUuid(), channel: 'vscode', title: 'Second', createdAt: 1_763_800_000_000 })).uuid;
    const headings = (page: string) =>
      [...page.matchAll(/<title>(.*)<\/title>|<h1>(.*?)<\/h1>/g)].map(([, title, heading]) => title ?? heading);
    const first = 'Tides &lt;b&gt; # *x*';
    assert.deepEqual(headings(await exported('html')), [first, first]);
    const history = 'Threadkeeper history';
    assert.deepEqual(headings(await exported('html', false, [session, second])), [history, history, first, 'Second']);
    const markdown = await exported('md', false, [session, second]);
    assert.match(markdown, /\n\n---\n\n# Second\n/);
    assert.doesNotMatch(markdown, /^\n---/);
  });

  it('is redacted in every format', async () => {
    for (const format of ['json', 'md', 'html'] as const) {
      const text = await exported(format, true);
      assert.doesNotMatch(text, /home\/ada|AQID|a"?\.png/);
      assert.match(text, /\/home\/user\/notes/);
    }
  });

  it('ends where a long text cannot be read now; looking at the session shows the rest', async () => {
    const text = 'long '.repeat(100_000);
    await store.append(session, {
      entries: [userMessage(session, (await store.session(session))!.leaf, '', { content: { type: 'message', role: 'user', text } })],
    });
    const formats: readonly ExportFormat[] = ['md', 'html'];
    const whole = await Promise.all(formats.map((format) => exported(format)));
    const file = readdirSync(join(temp.path, 'blobs'), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .find((one) => statSync(one).size > 3)!;
    renameSync(file, `${file}.away`);
    mkdirSync(file);
    for (const format of formats) await assert.rejects(exported(format), (error) => StoreError.is(error) && error.message.includes(file));
    let shown = '';
    for await (const piece of exportMarkdown(store, [(await store.session(session))!], { redact: false, isForNow: true })) shown += piece;
    assert.ok(shown.includes('# Done') && shown.includes('**damaged**'), shown.slice(-200));
    rmdirSync(file);
    for (const format of formats) assert.match(await exported(format), /damaged/);
    renameSync(`${file}.away`, file);
    assert.deepEqual(await Promise.all(formats.map((format) => exported(format))), whole);
  });

  it('takes out what looks like a secret, and little else', () => {
    const secrets: readonly (readonly [string, string])[] = [
      ['key sk-ant-api03-abcdefghijklmnop_QRS', 'key [token]'],
      ['ghp_abcdefghijklmnopqrstuvwxyz0123 AKIAABCDEFGHIJKLMNOP', '[token] [token]'],
      ['Authorization: Bearer abcdefghijkl', 'Authorization: Bearer [token]'],
      ['PASSWORD=hunter2hunter2;', 'PASSWORD=[secret];'],
      ['"api_key": "0123456789"', '"api_key": "[secret]"'],
      ['https://ada:lovelace@example.org/x', 'https://[login]@example.org/x'],
      ['/home/ada/x C:\\Users\\ada\\x (/Users/ada)', '/home/user/x C:\\Users\\user\\x (/Users/user)'],
      ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----!', '[private key]!'],
      ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', '[token]'],
    ];
    for (const [before, after] of secrets) assert.equal(redactText(before), after);
    for (const plain of [
      'a task-sk-1 and sk-1',
      'the token count is 12',
      'tokens: 12345',
      'src/home/page.ts',
      '01930000-0000-7000-8000-000000000001',
    ])
      assert.equal(redactText(plain), plain);
    assert.deepEqual(redactValue({ password: 'x', n: 1, list: ['/home/ada', null] }), {
      password: '[secret]',
      n: 1,
      list: ['/home/user', null],
    });
  });
});
