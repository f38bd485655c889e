import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert';
import { chmod, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool, type ToolCallEntry } from '../../../src/core/chat/turn/toolRun';
import { Approvals, type ApprovalRule } from '../../../src/core/chat/turn/approvals';
import type { ContentOf } from '../../../src/core/session/entry';
import { approvalRule, headlessRule } from '../../../src/core/tools/approvalRule';
import { defaultEditRules } from '../../../src/core/tools/guard/guardedKinds';
import type { ApprovalQuestion, Tool } from '../../../src/core/tools/tool';
import type { Problem } from '../../../src/core/tools/toolWorkspace';
import type { Place } from '../../../src/core/tools/guard/workspacePath';
import { workspaceTools } from '../../../src/core/tools/workspaceTools';
import { systemClock } from '../../../src/node/runtime/systemClock';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';
import { pngOf } from '../../support/pngOf';
import { tempFolder } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

describe('tools over a real folder', () => {
  let temp: ReturnType<typeof tempFolder>;
  let root: string;
  let tools: Tool[];
  let questions: ApprovalQuestion[];
  let output: string;
  let rule: (question: ApprovalQuestion) => ApprovalRule;

  const file = (path: string) => join(root, path);
  const put = async (path: string, text: string | Uint8Array) => {
    await mkdir(join(file(path), '..'), { recursive: true });
    await writeFile(file(path), text);
  };
  const call = async (name: string, input: unknown, signal = new AbortController().signal): Promise<ContentOf<'tool_result'>> => {
    const approvals = new Approvals(
      (question) => {
        questions.push(question);
        return rule(question);
      },
      () => undefined,
    );
    const entry = { uuid: 'u', content: { type: 'tool_call', callId: 'c', name, input } } as unknown as ToolCallEntry;
    const emit = (event: { type: string; text?: string }) => void (event.type === 'tool_output' && (output += event.text ?? ''));
    const store = { putBlob: async (bytes: Uint8Array) => `blob of ${bytes.length}` };
    return runTool(entry, { tools, approvals, clock: systemClock, emit: emit as never, tell: () => undefined, store }, signal);
  };
  const said = async (name: string, input: unknown): Promise<string> => {
    const { status, text } = await call(name, input);
    return `${status}: ${text}`;
  };

  beforeEach(async () => {
    temp = tempFolder();
    root = join(temp.path, 'project');
    await mkdir(root);
    await mkdir(join(temp.path, 'outside'));
    await writeFile(join(temp.path, 'outside', 'secret.txt'), 'not yours');
    tools = workspaceTools(new DiskWorkspace([root], new CommandRunner()), systemClock, () => defaultEditRules);
    questions = [];
    output = '';
    rule = () => 'allow';
  });
  afterEach(() => rm(temp.path, { recursive: true, force: true }));

  it('reads an image as one: the result has it, and names it in words; what only looks like one is text or nothing', async () => {
    const png = Buffer.alloc(64);
    png.write('\x89PNG\r\n', 'latin1');
    png.writeUInt32BE(640, 16);
    png.writeUInt32BE(480, 20);
    await put('shots/pier.png', png);
    await put('text.png', 'no picture');
    await put('broken.png', png.subarray(0, 20));
    await put('icon.svg', '<svg></svg>');
    deepStrictEqual(await call('read_file', { path: 'shots/pier.png' }), {
      type: 'tool_result',
      callId: 'c',
      name: 'read_file',
      text: 'shots/pier.png is an image (png, 640 × 480 pixels). It is part of this result.',
      status: 'ok',
      attachments: [{ kind: 'image', name: 'shots/pier.png', hash: 'blob of 64', mime: 'image/png', tokens: 410 }],
    });
    match(await said('read_file', { path: 'text.png' }), /^ok: text\.png, lines 1 to 1 of 1/);
    match(await said('read_file', { path: 'broken.png' }), /^error: broken\.png is a binary file/);
    match(await said('read_file', { path: 'icon.svg' }), /^ok: icon\.svg, lines 1 to 1/);
    await put('huge.png', Buffer.concat([png, Buffer.alloc(4_000_000)]));
    match(await said('read_file', { path: 'huge.png' }), /^error: huge\.png has 4,000,064 bytes; images above/);
    png.writeUInt32BE(8_001, 20);
    await put('long.png', png);
    strictEqual(
      await said('read_file', { path: 'long.png' }),
      'error: long.png is an image of 640 × 8001 pixels; those above 8000 pixels a side are not shown. A smaller copy can be.',
    );
  });

  it('says of an image that a tool returns and that no provider takes how large it is, and keeps the others', async () => {
    const images = [
      { name: 'page.png', bytes: pngOf(1_280, 8_001) },
      { name: 'pier.png', bytes: pngOf(640, 480) },
    ];
    const look: Tool = {
      name: 'look',
      description: 'shows pictures',
      inputSchema: { type: 'object' },
      access: 'read',
      run: async () => ({ text: 'Two pictures.', images, status: 'ok' }),
    };
    tools = [look];
    const { text, attachments } = await call('look', {});
    strictEqual(text, 'Two pictures.\n[page.png is not shown: it has 1280 × 8001 pixels, and a side may have 8000.]');
    deepStrictEqual(
      attachments?.map(({ name }) => name),
      ['pier.png'],
    );
  });

  it('reads pages of a file, and says how to read on', async () => {
    await put('src/long.txt', `${Array.from({ length: 9_000 }, (_, i) => `line ${i + 1}`).join('\r\n')}`);
    const first = await said('read_file', { path: 'src/long.txt' });
    match(first, /^ok: src\/long\.txt, lines 1 to \d+ of 9000 \(CRLF line ends; no line break at its end\):\n1\tline 1\n/);
    const next = Number(/read_file with "start_line": (\d+)\.\]$/.exec(first)![1]);
    match(
      await said('read_file', { path: 'src/long.txt', start_line: next, line_count: 2 }),
      new RegExp(`lines ${next} to ${next + 1} of 9000.*\n${next}\tline ${next}\n`),
    );
    match(
      await said('read_file', { path: 'src/long.txt', start_line: 9_001 }),
      /^error: src\/long\.txt has 9000 lines; there is no line 9001/,
    );
    deepStrictEqual(
      questions.map(({ kind, everyTime }) => `${kind} ${everyTime}`),
      ['read false', 'read false', 'read false'],
    );
  });

  it('answers with words about what is no readable text', async () => {
    await put('a.bin', new Uint8Array([1, 2, 0, 3]));
    await put('huge.log', '');
    await truncate(file('huge.log'), 100 * 1024 * 1024);
    await put('latin.txt', new Uint8Array([0x63, 0x61, 0x66, 0xe9]));
    await put('wide.txt', new Uint8Array([0xff, 0xfe, 0x68, 0, 0x69, 0]));
    await put('empty.txt', '');
    match(await said('read_file', { path: 'a.bin' }), /^error: a\.bin is a binary file of 4 bytes/);
    match(await said('read_file', { path: 'huge.log' }), /^error: huge\.log has 100 MB; files above 10 MB are not read/);
    match(await said('read_file', { path: 'latin.txt' }), /not UTF-8: it cannot be edited here/);
    match(await said('edit_file', { path: 'latin.txt', old_text: 'caf', new_text: 'CAF' }), /^error: latin\.txt is not UTF-8/);
    match(await said('read_file', { path: 'wide.txt' }), /1\thi/);
    match(await said('read_file', { path: 'empty.txt' }), /empty\.txt is empty/);
    match(await said('read_file', { path: 'src' }), /^error: There is no file src/);
    match(await said('read_file', { path: '.' }), /^error: \. is a folder/);
    match(await said('read_file', { file: 'x' }), /^error: The input is not valid/);
  });

  it('tells what the editor reports of a file, or of all, the worst first, and nothing of a file with secrets', async () => {
    for (const path of ['src/a.ts', 'src/b.ts', '.env']) await put(path, 'x');
    const problem = (path: string, line: number, severity: Problem['severity'], text: string): Problem => ({
      place: { folder: 0, path },
      line,
      severity,
      text,
    });
    let all = [
      problem('src/a.ts', 3, 'hint', 'unused'),
      problem('.env', 1, 'error', 'KEY=4711 is no value'),
      problem('src/a.ts', 1, 'error', 'Type\n  mismatch'),
      ...Array.from({ length: 120 }, (_, i) => problem('src/b.ts', i + 1, 'warning', 'long')),
    ];
    const problems = (place: Place | null) => all.filter((one) => place === null || one.place.path === place.path);
    const workspace = Object.assign(new DiskWorkspace([root], new CommandRunner()), { problems });
    tools = workspaceTools(workspace, systemClock, () => defaultEditRules);
    strictEqual(await said('diagnostics', { path: 'src/a.ts' }), 'ok: src/a.ts:1: error: Type mismatch\nsrc/a.ts:3: hint: unused');
    const lines = (await said('diagnostics', {})).split('\n');
    deepStrictEqual(
      [lines[0], lines[1], lines.length, lines.at(-1), lines.some((line) => line.includes('4711'))],
      ['ok: src/a.ts:1: error: Type mismatch', 'src/b.ts:1: warning: long', 101, '[22 more.]', false],
    );
    match(await said('diagnostics', { path: '../outside/secret.txt' }), /^error: /);
    all = [];
    strictEqual(await said('diagnostics', {}), 'ok: No problems are reported.');
  });

  it('keeps to the workspace, through links as well', async () => {
    await put('a.txt', 'inside');
    await symlink(join(temp.path, 'outside'), file('out'));
    await symlink(join(temp.path, 'outside', 'secret.txt'), file('plain.txt'));
    await symlink(join(temp.path, 'outside', 'new.txt'), file('dangling.txt'));
    await symlink('a.txt', file('alias.txt'));
    for (const path of ['../outside/secret.txt', 'out/secret.txt', 'plain.txt', join(temp.path, 'outside', 'secret.txt'), 'out']) {
      match(await said('read_file', { path }), /^error: .*outside of the workspace/, path);
    }
    for (const path of ['dangling.txt', 'out/new.txt', '../new.txt'])
      match(await said('create_file', { path, content: 'x' }), /^error: .*outside of the workspace/, path);
    match(await said('edit_file', { path: 'plain.txt', old_text: 'not', new_text: 'now' }), /outside of the workspace/);
    match(await said('list_folder', { path: 'out' }), /outside of the workspace/);
    match(await said('run_command', { command: 'cat secret.txt', folder: 'out' }), /outside of the workspace/);
    match(await said('read_file', { path: 'alias.txt' }), /1\tinside/);
    strictEqual(await said('search_text', { text: 'yours' }), 'ok: Nothing in 1 files matches "yours".');
    strictEqual(await readFile(join(temp.path, 'outside', 'secret.txt'), 'utf8'), 'not yours');
  });

  it('does what a link says at the time it is used, not when it was asked about', async () => {
    await put('dir/a.txt', 'inside');
    tools = tools.map((tool) => ({
      ...tool,
      needsApproval: async (input: unknown, signal: AbortSignal) => {
        const question = await tool.needsApproval!(input, signal);
        await rename(file('dir'), file('was'));
        await symlink(join(temp.path, 'outside'), file('dir'));
        return question;
      },
    }));
    match(await said('create_file', { path: 'dir/b.txt', content: 'x' }), /outside of the workspace/);
  });

  it('asks every time about what is ignored or looks like a secret, and never searches it', async () => {
    await put('.gitignore', 'private/\n*.log\n');
    await put('.env', 'KEY=abc');
    await put('private/plan.txt', 'KEY');
    await put('app.log', 'KEY');
    await put('src/a.ts', 'const KEY = 1;');
    await symlink('.env', file('harmless.txt'));
    for (const path of ['.env', 'private/plan.txt', 'app.log', 'harmless.txt']) await call('read_file', { path });
    await call('edit_file', { path: '.env', old_text: 'abc', new_text: 'def' });
    await call('read_file', { path: 'src/a.ts' });
    deepStrictEqual(
      questions.map(({ everyTime }) => everyTime),
      [true, true, true, true, true, false],
    );
    deepStrictEqual(
      [
        approvalRule(questions[0]!, 'read_file', { mode: 'allowReads', rules: [] }, true),
        approvalRule(questions[0]!, 'read_file', { mode: 'session', rules: [] }, true),
        approvalRule(questions[5]!, 'read_file', { mode: 'allowReads', rules: [] }, true),
        approvalRule(questions[5]!, 'read_file', { mode: 'ask', rules: [] }, true),
      ],
      ['ask', 'ask', 'allow', 'ask'],
    );
    strictEqual(await said('search_text', { text: 'KEY' }), 'ok: 1 lines in 1 files:\nsrc/a.ts:1: const KEY = 1;');
    strictEqual(await said('find_files', { pattern: '*' }), 'ok: .gitignore\nsrc/a.ts');
  });

  it('changes nothing in a workspace that is not trusted, and only what a run without anybody to ask may', async () => {
    await put('a.txt', 'a');
    rule = (question) => approvalRule(question, 'read_file', { mode: 'session', rules: [] }, false);
    match(await said('edit_file', { path: 'a.txt', old_text: 'a', new_text: 'b' }), /^denied: This workspace is not trusted/);
    match(await said('run_command', { command: 'true' }), /^denied: This workspace is not trusted/);
    match(await said('read_file', { path: 'a.txt' }), /^ok/);
    rule = (question) => headlessRule(question, 'reads');
    match(await said('read_file', { path: 'a.txt' }), /^ok/);
    match(await said('edit_file', { path: 'a.txt', old_text: 'a', new_text: 'b' }), /^denied: .*--allow-tools/);
    rule = (question) => headlessRule(question, 'none');
    match(await said('read_file', { path: 'a.txt' }), /^denied/);
    strictEqual(await readFile(file('a.txt'), 'utf8'), 'a');
  });

  it('finds and searches with bounds, without following an expensive expression', async () => {
    await put('src/a.ts', 'alpha\nBeta\n'.repeat(30));
    await put('src/deep/b.test.ts', 'beta gamma');
    await put('long.txt', `${'a'.repeat(60)}b`);
    await put('image.png', new Uint8Array([0, 1, 2]));
    strictEqual(await said('find_files', { pattern: '*.ts' }), 'ok: src/a.ts\nsrc/deep/b.test.ts');
    strictEqual(await said('find_files', { pattern: 'src/**/*.test.ts' }), 'ok: src/deep/b.test.ts');
    strictEqual(await said('find_files', { pattern: 'nope' }), 'ok: No file matches nope.');
    match(
      await said('search_text', { text: 'beta', ignore_case: true, files: '*.ts' }),
      /^ok: 31 lines in 2 files:\nsrc\/a\.ts:2: Beta\n[\s\S]*src\/a\.ts: 20 more lines\nsrc\/deep\/b\.test\.ts:1: beta gamma$/,
    );
    strictEqual(await said('search_text', { text: '^be.a\\b', regex: true }), 'ok: 1 lines in 1 files:\nsrc/deep/b.test.ts:1: beta gamma');
    strictEqual(
      await said('search_text', { text: 'beta', path: 'src/deep/b.test.ts' }),
      'ok: 1 lines in 1 files:\nsrc/deep/b.test.ts:1: beta gamma',
    );
    match(await said('search_text', { text: '(a+)+$', regex: true, files: 'long.txt' }), /^error: This regular expression takes too long/);
    match(await said('search_text', { text: '(', regex: true }), /^error: This is no regular expression/);
    strictEqual(await said('list_folder', { path: 'src' }), 'ok: src:\ndeep/\na.ts');
    const stopped = new AbortController();
    stopped.abort();
    strictEqual((await call('search_text', { text: 'x' }, stopped.signal)).status, 'interrupted');
  });

  it('edits what was shown and nothing else: CRLF, no line break at the end, byte order mark', async () => {
    await put('dos.txt', '\ufeffone\r\ntwo\r\nthree');
    strictEqual(
      await said('edit_file', { path: 'dos.txt', old_text: 'one\ntwo', new_text: 'one\n2\nand more' }),
      'ok: dos.txt: changed at line 1.',
    );
    strictEqual(await readFile(file('dos.txt'), 'utf8'), '\ufeffone\r\n2\r\nand more\r\nthree');
    deepStrictEqual(questions[0]!.change, {
      path: 'dos.txt',
      before: '\ufeffone\r\ntwo\r\nthree',
      after: '\ufeffone\r\n2\r\nand more\r\nthree',
    });
    strictEqual(await said('create_file', { path: 'new/deep/a.txt', content: 'no break' }), 'ok: new/deep/a.txt has been created.');
    strictEqual(await readFile(file('new/deep/a.txt'), 'utf8'), 'no break');
    match(await said('create_file', { path: 'dos.txt', content: 'x' }), /^error: dos\.txt exists already/);
    strictEqual(await said('create_file', { path: 'dos.txt', content: 'a\nb', overwrite: true }), 'ok: dos.txt has been replaced.');
    strictEqual(await readFile(file('dos.txt'), 'utf8'), '\ufeffa\r\nb');
    deepStrictEqual(questions.at(-1)!.change, { path: 'dos.txt', before: '\ufeffone\r\n2\r\nand more\r\nthree', after: '\ufeffa\r\nb' });
    await said('create_file', { path: 'dos.txt', content: '\ufeffb', overwrite: true });
    strictEqual(await readFile(file('dos.txt'), 'utf8'), '\ufeffb', 'a mark that is given is not doubled');
  });

  it('refuses to change what has been changed by somebody else', async () => {
    await put('a.txt', 'one two');
    await call('read_file', { path: 'a.txt' });
    await put('a.txt', 'one two three');
    match(await said('edit_file', { path: 'a.txt', old_text: 'one', new_text: '1' }), /^error: a\.txt has been changed since you read it/);
    await call('read_file', { path: 'a.txt' });
    strictEqual(await said('edit_file', { path: 'a.txt', old_text: 'one', new_text: '1' }), 'ok: a.txt: changed at line 1.');
    strictEqual(
      await said('edit_file', { path: 'a.txt', old_text: 'two', new_text: '2' }),
      'ok: a.txt: changed at line 1.',
      'its own change is known',
    );
    // While the user looks at the difference.
    tools = tools.map((tool) => ({
      ...tool,
      needsApproval: async (input: unknown, signal: AbortSignal) => {
        const question = await tool.needsApproval!(input, signal);
        await put('a.txt', 'mine three');
        return question;
      },
    }));
    match(await said('edit_file', { path: 'a.txt', old_text: 'three', new_text: '3' }), /^error: a\.txt (was|has been) changed/);
    strictEqual(await readFile(file('a.txt'), 'utf8'), 'mine three');
  });

  it('takes one of several edits of one text that come at once', async () => {
    for (let round = 0; round < 10; round++) {
      await writeFile(file('shared.txt'), 'before');
      const wanted = Array.from({ length: 4 }, (_, session) => String(session).repeat(4 + 3 * session));
      const edits = wanted.map((after) =>
        new DiskWorkspace([root], new CommandRunner()).replace({ folder: 0, path: 'shared.txt' }, 'before', after),
      );
      const made = (await Promise.allSettled(edits)).flatMap((edit) => (edit.status === 'fulfilled' ? [edit.value] : []));
      deepStrictEqual([await readFile(file('shared.txt'), 'utf8')], made);
    }
  });

  it('says of a read-only file that it is', async () => {
    await put('a.txt', 'a');
    await chmod(file('a.txt'), 0o444);
    const isRoot = process.getuid?.() === 0;
    await chmod(temp.path, 0o777);
    if (isRoot) process.seteuid!(65534);
    try {
      match(
        await said('edit_file', { path: 'a.txt', old_text: 'a', new_text: 'b' }),
        /^error: a\.txt is read-only or not accessible\. Nothing was changed\.$/,
      );
    } finally {
      if (isRoot) process.seteuid!(0);
    }
    strictEqual(await readFile(file('a.txt'), 'utf8'), 'a');
  });

  it('runs a command where it was told to, and shows what it prints while it runs', async () => {
    await mkdir(file('sub'));
    const { status, text, shownTokens } = await call('run_command', {
      command: 'pwd; echo to-err >&2; echo "key: $ANTHROPIC_API_KEY."; exit 3',
      folder: 'sub',
    });
    match(text, /^Exit code 3 after \d+\.\d s\.\n.*\/project\/sub\n/);
    ok(text.includes('to-err') && text.includes('key: .'));
    deepStrictEqual(
      { status, shownTokens, everyTime: questions[0]!.everyTime, title: questions[0]!.title },
      { status: 'error', shownTokens: 4_000, everyTime: false, title: 'Run a command in sub' },
    );
    ok(output.includes('to-err'));
    strictEqual((await call('run_command', { command: 'true' })).status, 'ok');
    match(await said('run_command', { command: 'no-such-program-here' }), /^error: Exit code 127/);
    match(await said('run_command', { command: 'seq 1 400000' }), /\n399999\n400000$/, 'all of a long output');
  });

  it('asks nobody about several lines where the shell would run the first one only', async () => {
    const workspace = new DiskWorkspace([root], new CommandRunner());
    Object.defineProperty(workspace, 'runsOneLine', { value: true });
    tools = workspaceTools(workspace, systemClock, () => defaultEditRules);
    deepStrictEqual(
      [await said('run_command', { command: 'echo one\necho two' }), (await call('run_command', { command: 'true\n' })).status],
      ['error: The shell here (cmd.exe) runs the first line only, and this command has several. Join them by "&&".', 'ok'],
    );
    deepStrictEqual(
      questions.map(({ detail }) => detail),
      ['true\n'],
    );
  });

  it('asks for a lasting permission for the folder as well, and for none where a link leads there', async () => {
    await mkdir(file('web'));
    await mkdir(file('a && b'));
    await symlink(file('web'), file('other'));
    const folders = [undefined, 'web', 'a && b', 'other'];
    for (const folder of folders) await call('run_command', { command: 'true', ...(folder === undefined ? {} : { folder }) });
    deepStrictEqual(
      questions.slice(-folders.length).map(({ permission }) => permission),
      ['true', 'cd web && true', undefined, undefined],
    );
  });

  it('ends a command with everything it has started', async () => {
    const stop = new AbortController();
    const running = call('run_command', { command: 'sleep 300 & echo $! > pid; echo begun; wait' }, stop.signal);
    await waitFor(
      'the command to begin',
      async () => (await readFile(file('pid'), 'utf8').catch(() => '')).trim() !== '' && output.includes('begun'),
    );
    const pid = Number(await readFile(file('pid'), 'utf8'));
    stop.abort();
    const { status, text } = await running;
    // A machine that is busy enough takes longer to end it than a call is waited for.
    match(`${status}: ${text}`, /^interrupted: (Stopped by the user after .*\nbegun|The user stopped this call\.)$/);
    await waitFor('its child to end', async () => !isAlive(pid));
    match(
      await said('run_command', { command: 'echo early; sleep 300', timeout_seconds: 4 }),
      /^error: Ended after 4 seconds, before it had finished\.\nearly$/,
    );
    await rejects(async () => process.kill(pid, 0));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
