import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, smallModel, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { projectRoot } from '../../support/paths';
import { themes } from '../../support/view/themes';
import { waitFor } from '../../support/waitFor';

/** Command lines of what runs on this machine and begins so. */
const processes = (beginning: string) =>
  execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.startsWith(beginning));

/** Tools in a real window, told in order. */
describe('workspace tools', function () {
  inOrder(this);
  let session: ChatSession;
  const file = (path: string) => join(session.folder, path);
  const text = (path: string) => readFile(file(path), 'utf8');
  /** What the model was last told about its calls. */
  const results = () =>
    [
      ...JSON.stringify(session.api.messages.at(-1)?.body).matchAll(
        /"type":"tool_result".*?"content":(?:\[\{"type":"text","text":)?"((?:[^"\\]|\\.)*)"/g,
      ),
    ].map((match) => JSON.parse(`"${match[1]!}"`) as string);

  before(async () => {
    // The browser's VS Code saves by itself: what is not saved yet would not stay so.
    session = await openChat({
      window: 60_000,
      settings: {
        'files.autoSave': 'off',
        'threadkeeper.checkpoint.enabled': false,
        // The most that VS Code takes: on a busy machine a shell is late.
        'terminal.integrated.shellIntegration.timeout': 60_000,
      },
    });
    await writeFile(file('src/dos.txt'), 'one\r\ntwo\r\nthree');
    await writeFile(file('.env'), 'TOKEN=very-secret');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('reads, lists and searches without asking, all at once', async () => {
    const { chat, api, workbench } = session;
    const calls = [
      toolCall('read_file', { path: 'src/tide.js' }),
      toolCall('list_folder', {}),
      toolCall('find_files', { pattern: '*.js' }),
      toolCall('search_text', { text: 'nextHighWater' }),
    ];
    api.enqueue(reply('I look around.', ...calls), reply('I have seen it.'));
    await chat.ask('Look around');
    const [read, list, find, search] = results();
    assert.match(read!, /^src\/tide\.js, lines 1 to \d+ of \d+:\n1\t\/\*\* The first reading/);
    assert.match(list!, /^\.:\nnotes\/\nsrc\//);
    assert.match(find!, /^src\/cli\.js\nsrc\/table\.js\nsrc\/tide\.js$/m);
    assert.match(search!, /^\d+ lines in \d files:\n[\s\S]*src\/tide\.js:2: export function nextHighWater/);
    assert.equal(await chat.count('.approval'), 0);
    await workbench.screenshot('tools-read');
  });

  it('edits after the difference was seen and allowed, and keeps line ends', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply(toolCall('edit_file', { path: 'src/dos.txt', old_text: 'two\nthree', new_text: '2\n3' })), reply('Changed.'));
    await chat.send('Change it');
    await chat.see('.approval-title', 'Edit src/dos.txt');
    assert.equal(await text('src/dos.txt'), 'one\r\ntwo\r\nthree');
    await chat.press('Show diff');
    await workbench.page.locator('.tab', { hasText: 'dos.txt (change)' }).waitFor();
    await workbench.screenshot('tools-approval');
    await chat.press(/^Allow$/);
    await chat.idle();
    assert.equal(await text('src/dos.txt'), 'one\r\n2\r\n3');
    assert.equal(results().at(-1), 'src/dos.txt: changed at line 2.');
  });

  it('leaves alone what the user has not saved, also when they type while they are asked', async () => {
    const { chat, api, workbench } = session;
    const { page } = workbench;
    const dirty = page.locator('.tab.dirty', { hasText: 'draft.txt' });
    const shown = async () => (await page.locator('.editor-instance .view-lines').innerText()).replaceAll('\u00a0', ' ');
    await writeFile(file('src/draft.txt'), 'one\ntwo\n');
    await workbench.openFile('draft.txt');
    const editor = page.locator('.editor-instance .view-lines');
    await waitFor('the file in an editor', async () => /two/.test(await shown()));
    const type = async (text: string) => {
      await editor.click();
      await page.keyboard.press('Control+Home');
      await page.keyboard.type(text);
      await dirty.waitFor();
    };

    await type('MINE ');
    const calls = [
      toolCall('edit_file', { path: 'src/draft.txt', old_text: 'two', new_text: '2' }),
      toolCall('create_file', { path: 'src/draft.txt', content: 'new', overwrite: true }),
    ];
    api.enqueue(reply(...calls), reply('You have not saved it.'));
    await chat.ask('Change the draft');
    assert.equal(await chat.count('.approval'), 0);
    for (const told of results().slice(-2))
      assert.match(
        told,
        /^src\/draft\.txt has changes in an editor that the user has not saved\. Ask them to save or to revert it first\.$/,
      );
    assert.deepEqual([await text('src/draft.txt'), /MINE one/.test(await shown())], ['one\ntwo\n', true]);
    await workbench.screenshot('tools-unsaved');

    await editor.click();
    await page.keyboard.press('Control+S');
    await dirty.waitFor({ state: 'detached' });
    api.enqueue(reply(toolCall('edit_file', { path: 'src/draft.txt', old_text: 'two', new_text: '2' })), reply('You were quicker.'));
    await chat.send('Now');
    await chat.see('.approval-title', 'Edit src/draft.txt');
    await type('AGAIN ');
    await chat.press(/^Allow$/);
    await chat.idle();
    assert.match(results().at(-1)!, /draft\.txt (has changes in an editor|was changed while|has been changed)/);
    assert.deepEqual([await text('src/draft.txt'), /AGAIN MINE one/.test(await shown())], ['MINE one\ntwo\n', true]);

    await editor.click();
    await page.keyboard.press('Control+S');
    await dirty.waitFor({ state: 'detached' });
    api.enqueue(reply(toolCall('edit_file', { path: 'src/draft.txt', old_text: 'two', new_text: '2' })), reply('Changed.'));
    await chat.send('Once more');
    await chat.see('.approval-title', 'Edit src/draft.txt');
    await chat.press(/^Allow$/);
    await chat.idle();
    assert.equal(await text('src/draft.txt'), 'AGAIN MINE one\n2\n');
    await waitFor('the change in the editor', async () => /\n2/.test(await shown()));
    assert.equal(await dirty.count(), 0);
    // The user can take it back as anything they have typed.
    await editor.click();
    await page.keyboard.press('Control+Z');
    await waitFor('the change to be taken back', async () => /two/.test(await shown()));
    await page.keyboard.press('Control+S');
    await dirty.waitFor({ state: 'detached' });
    assert.deepEqual(api.errors, []);
  });

  it('tells the model what the language tools of VS Code report', async () => {
    const { chat, api, workbench } = session;
    await writeFile(file('src/bad.json'), '{\n  "a": 1,,\n  "b": 2\n}\n');
    await workbench.openFile('bad.json');
    await workbench.page.locator('.editor-instance .squiggly-error').first().waitFor();
    api.enqueue(reply(toolCall('diagnostics', { path: 'src/bad.json' })), reply('A comma too many.'));
    await chat.ask('What is wrong with it?');
    assert.match(results().at(-1)!, /^src\/bad\.json:2: error: .+/);
  });

  it('keeps asking while the view is hidden, and changes nothing that is denied', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply(toolCall('create_file', { path: 'made.txt', content: 'x' })), reply('I leave it.'));
    await chat.send('Make a file');
    await chat.see('.approval-title', 'Create made.txt');
    await workbench.openView('Explorer');
    await workbench.page
      .locator('.activitybar .action-item', { has: workbench.page.locator('a[aria-label^="Threadkeeper"]') })
      .locator('.badge-content')
      .filter({ hasText: '1' })
      .waitFor();
    await workbench.screenshot('tools-badge');
    await chat.see('.approval-title', 'Create made.txt');
    await chat.press(/^Deny$/);
    await chat.idle();
    await chat.see('.tool.denied', 'not allowed');
    assert.equal(existsSync(file('made.txt')), false);
    assert.match(results().at(-1)!, /did not allow/);
  });

  it('asks about a file that looks like a secret, and refuses what lies outside', async () => {
    const { chat, api } = session;
    api.enqueue(reply(toolCall('read_file', { path: '.env' }), toolCall('read_file', { path: '../../etc/passwd' })), reply('I see.'));
    await chat.send('Read my secrets');
    await chat.see('.approval', 'looks like a file that holds secrets');
    await chat.press(/^Deny$/);
    await chat.idle();
    assert.equal(await chat.count('.approval'), 0);
    const told = results().slice(-2);
    assert.ok(told.some((one) => /did not allow/.test(one)) && told.some((one) => /outside of the workspace/.test(one)), told.join());
    assert.ok(!JSON.stringify(api.messages).includes('very-secret'));
  });

  it('runs a command in a terminal after asking, and shows what it prints', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(
      reply(
        toolCall('run_command', {
          command:
            'echo begun; while [ ! -e go ]; do sleep 0.1; done; printf "\\033[31mred\\033[0m\\n"; echo "key: $ANTHROPIC_API_KEY."; [ -t 1 ] && echo done',
        }),
      ),
      reply('It ran.'),
    );
    await chat.send('Run it');
    await chat.see('.approval-detail', 'echo begun');
    await chat.press(/^Allow$/);
    await (await chat.locator('.tool-line')).last().click();
    await chat.see('.tool-details pre', /^begun/);
    await chat.press('Show terminal');
    await workbench.page.locator('.terminal-tab, .single-terminal-tab').filter({ hasText: 'Threadkeeper' }).first().waitFor();
    await workbench.screenshot('tools-command');
    await writeFile(file('go'), '');
    await chat.idle();
    assert.match(results().at(-1)!, /^Exit code 0 after .*\nbegun\nred\nkey: \.\ndone$/);
  });

  it('runs the command behind a plain one in the same terminal, unless its user runs something there', async () => {
    const { chat, api, workbench } = session;
    const shells: string[] = [];
    const run = async (name: string, whileItRuns: () => Promise<void> = async () => undefined) => {
      await writeFile(file(`${name}.sh`), `echo $PPID > ${name}; while [ ! -e ${name}.go ]; do sleep 0.1; done; exit 1\n`);
      api.enqueue(reply(toolCall('run_command', { command: `sh ${name}.sh` })), reply('It failed.'));
      await chat.send('And again');
      await chat.press(/^Allow$/);
      await waitFor('the command', async () => existsSync(file(name)) && (await text(name)) !== '');
      await whileItRuns();
      await writeFile(file(`${name}.go`), '');
      await chat.idle();
      assert.match(results().at(-1)!, /^Exit code 1 after /);
      shells.push(await text(name));
    };
    await run('first');
    await run('second', async () => {
      await (await chat.locator('.tool-line')).last().click();
      await chat.press('Show terminal');
    });
    await writeFile(file('theirs.sh'), 'echo $PPID > theirs; cat > typed\n');
    await workbench.page.locator('.terminal-wrapper.active .xterm-helper-textarea').focus();
    await workbench.page.keyboard.type('sh theirs.sh\n');
    await waitFor('what the user runs', () => existsSync(file('typed')));
    shells.push(await text('theirs'));
    await run('last');
    const [first, ...others] = shells;
    assert.deepEqual([others.map((shell) => shell === first), await text('typed')], [[true, true, false], '']);
  });

  it('ends a command that is stopped with all it has started', async () => {
    const { chat, api } = session;
    api.enqueue(reply(toolCall('run_command', { command: '(setsid sleep 987 &) ; echo waiting; sleep 986' })), reply('Never said.'));
    await chat.send('Wait');
    await chat.press(/^Allow$/);
    await waitFor('the command', () => processes('sleep 98').length === 2);
    await chat.press('Stop');
    await chat.idle();
    await waitFor('the end of what it has started', () => processes('sleep 98').length === 0);
  });

  it('leaves a tool that is switched off out of the prompt', async () => {
    const { chat, api, workbench } = session;
    const offered = () => (session.api.messages.at(-1)?.body as { tools?: { name: string }[] }).tools?.map(({ name }) => name) ?? [];
    assert.ok(offered().includes('run_command'));
    await workbench.runCommand('Threadkeeper: Select Tools…');
    await workbench.quickInput.waitUntilOpen('Select Tools');
    await workbench.quickInput.type('run_command');
    const list = workbench.page.locator('.quick-input-list .monaco-list-row');
    const row = list.filter({ hasText: 'run_command' });
    await row.waitFor();
    assert.match(await row.innerText(), /~\d+ tokens/);
    await row.click();
    await workbench.screenshot('tools-select');
    await workbench.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
    await chat.ask('What can you do now?');
    assert.ok(!offered().includes('run_command') && offered().includes('read_file'));
    await workbench.runCommand('Threadkeeper: Select Tools…');
    await workbench.quickInput.waitUntilOpen('Select Tools');
    await workbench.quickInput.type('run_command');
    await row.click();
    await workbench.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
    await chat.ask('And now?');
    assert.ok(offered().includes('run_command'));
    assert.deepEqual(api.errors, []);
  });

  it('takes Stop for a no, and survives a reload in the middle of a question', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply(toolCall('run_command', { command: 'touch ran' })));
    await chat.send('Run that');
    await chat.see('.approval-detail', 'touch ran');
    await chat.press(/^Stop/);
    await chat.idle();
    api.enqueue(reply(toolCall('run_command', { command: 'touch ran' })));
    await chat.send('Again');
    await waitFor('a second question', async () => (await chat.count('.approval')) === 1);
    await workbench.reload();
    await chat.see('.tool.interrupted', 'interrupted');
    assert.equal(await chat.count('.approval'), 0);
    await chat.ask('Still there?');
    assert.equal(existsSync(file('ran')), false);
    assert.deepEqual(api.errors, []);
  });

  it('guarded: asks about what executes or instructs although the tool was allowed for the session, and says why', async () => {
    const { chat, api, server, workbench } = session;
    const settings = {
      'files.autoSave': 'off',
      'threadkeeper.checkpoint.enabled': false,
      'threadkeeper.anthropic.baseUrl': api.url,
      'threadkeeper.model': smallModel,
      'threadkeeper.tools.approval': 'session',
    };
    await server.writeSettings({ ...settings, 'workbench.colorTheme': themes.dark });
    await waitFor('the settings', async () => (await chat.count(`:root:has(body[data-vscode-theme-id="${themes.dark}"])`)) > 0);
    await mkdir(file('.vscode'), { recursive: true });
    await symlink('.vscode', file('harmless'));
    api.enqueue(
      reply(toolCall('create_file', { path: 'docs/hello.md', content: 'Hello' })),
      reply(toolCall('create_file', { path: 'docs/again.md', content: 'Hello' })),
      reply('Both are there.'),
    );
    await chat.send('Greet');
    await chat.see('.approval-title', 'Create docs/hello.md');
    await chat.press('Allow for this session');
    await chat.idle();
    assert.equal(await text('docs/again.md'), 'Hello', 'allowed for the session');

    api.enqueue(
      reply(toolCall('create_file', { path: 'harmless/tasks.json', content: '{ "version": "2.0.0", "tasks": [] }' })),
      reply('It stays as it is.'),
    );
    await chat.send('Make a task');
    await chat.see('.approval-title', 'Create harmless/tasks.json (a link leads to .vscode/tasks.json)');
    await chat.see('.approval-detail', 'VS Code runs tasks, debuggers and servers from this file.');
    assert.equal((await chat.texts('.approval vscode-button')).includes('Allow for this session'), false);
    await workbench.screenshot('tools-guarded-dark');
    await server.writeSettings({ ...settings, 'workbench.colorTheme': themes.light });
    await waitFor('the light theme', async () => (await chat.count(`:root:has(body[data-vscode-theme-id="${themes.light}"])`)) > 0);
    await workbench.screenshot('tools-guarded-light');
    await chat.press(/^Deny$/);
    await chat.idle();
    assert.equal(existsSync(file('.vscode/tasks.json')), false);

    api.enqueue(reply(toolCall('run_command', { command: 'echo \u202Esdrawkcab\u200B; touch ran' })), reply('It did not run.'));
    await chat.send('Run what cannot be read');
    await chat.see('.approval-detail', 'echo ⟦U+202E⟧sdrawkcab⟦U+200B⟧; touch ran');
    await chat.see('.approval', 'Characters that cannot be seen are shown as ⟦U+…⟧.');
    await workbench.screenshot('tools-hidden-light');
    await server.writeSettings({ ...settings, 'workbench.colorTheme': themes.dark });
    await waitFor('the dark theme', async () => (await chat.count(`:root:has(body[data-vscode-theme-id="${themes.dark}"])`)) > 0);
    await workbench.screenshot('tools-hidden-dark');
    await chat.press(/^Deny$/);
    await chat.idle();
    assert.equal(existsSync(file('ran')), false);
    await server.writeSettings({ ...settings, 'threadkeeper.tools.approval': 'allowReads', 'workbench.colorTheme': themes.dark });
  });

  it('guarded: takes no permission from the settings of a workspace', async () => {
    const { chat, api } = session;
    await mkdir(file('.vscode'), { recursive: true });
    await writeFile(
      file('.vscode/settings.json'),
      JSON.stringify({ 'threadkeeper.tools.approval': 'session', 'threadkeeper.tools.autoApproveEdits': { '**/Makefile': true } }),
    );
    api.enqueue(reply(toolCall('create_file', { path: 'Makefile', content: 'all:' })), reply('Not made.'));
    await chat.send('Make a Makefile');
    await chat.see('.approval-detail', 'Builds and tests run this file.');
    await chat.press(/^Deny$/);
    await chat.idle();
    await rm(file('.vscode'), { recursive: true });
  });

  it('shows an image that it reads, to the model and in its row', async () => {
    const { chat, api, folder, workbench } = session;
    await writeFile(join(folder, 'src/pier.png'), await readFile(join(projectRoot, 'media/icon.png')));
    api.enqueue(reply(toolCall('read_file', { path: 'src/pier.png' })), reply('A thread on a spool.'));
    await chat.ask('What is on the picture?');
    await chat.see('article.answer', 'A thread on a spool.');
    await waitFor('the picture', async () => (await chat.count('.tool-image img')) === 1);
    await workbench.screenshot('tool-image');
    const sent = JSON.stringify(api.messages.at(-1)!.body);
    assert.match(sent, /"type":"tool_result"[^[]*"content":\[\{"type":"text","text":"src\/pier.png is an image[^[]*"type":"image"/);
  });
});
