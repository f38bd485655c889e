import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attachment } from '../../src/core/session/userMessage';
import type { Mention } from '../../src/protocol/composer';
import { projectRoot } from '../support/paths';
import { axeViolations } from './support/axe';
import { snapshot, user } from './support/fixtures';
import { useViews, type View } from './support/openView';

const file: Attachment = { kind: 'file', name: 'tide.js', path: 'src/tide.js', hash: 'a'.repeat(64), mime: 'text/plain', tokens: 1_240 };
const image: Attachment = { kind: 'image', name: 'shot.png', hash: 'b'.repeat(64), mime: 'image/png', tokens: 820 };
/** 1,568 × 392 pixels. */
const dot = `data:image/png;base64,${readFileSync(join(projectRoot, 'test/fixtures/wide.png')).toString('base64')}`;
const mentions: Mention[] = [
  { source: { kind: 'problems' }, label: 'Problems', detail: '3', icon: 'problems' },
  { source: { kind: 'path', path: 'src/tide.js' }, label: 'tide.js', detail: 'src', icon: 'file' },
  { source: { kind: 'path', path: 'src/tides' }, label: 'tides', detail: 'src', icon: 'folder' },
];

describe('attachments and menus of the composer', function () {
  this.timeout(60_000);
  const open = useViews();
  const answer = (view: View, answers: Record<string, unknown>) =>
    view.page.evaluate((all) => Object.assign(window.fake.answers, all), answers);
  const chips = (view: View) => view.find('tk-composer .attachment .chip-text').allTextContents();
  const options = (view: View) => view.find('[role=option] .completion-label').allTextContents();
  const paste = (view: View, files: { width: number; height: number; type: string; name: string }[]) =>
    view.page.evaluate(async (all) => {
      const data = new DataTransfer();
      for (const { width, height, type, name } of all) {
        const canvas = document.createElement('canvas');
        canvas.width = width;
        canvas.height = height;
        canvas.getContext('2d')?.fillRect(0, 0, width / 2, height);
        const blob = type.startsWith('image/png')
          ? await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type))
          : new Blob(['not a picture']);
        data.items.add(new File([blob!], name, { type }));
      }
      document
        .querySelector('textarea')
        ?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, files);

  it('shows what a draft has attached, each with its tokens, takes one out, and sends the rest with the message', async () => {
    const view = await open({ snapshot: snapshot({ draft: 'look', attachments: [file, image] }) });
    deepStrictEqual(await chips(view), ['src/tide.js', 'shot.png']);
    match(await view.text('tk-composer .attachment'), /1\.2k tokens/);
    deepStrictEqual(await axeViolations(view), []);
    await view.button('Remove src/tide.js').click();
    deepStrictEqual(await chips(view), ['shot.png']);
    await view.find('textarea').press('Enter');
    const sent = await view.requested('send');
    deepStrictEqual(sent.method === 'send' && [sent.text, sent.attachments], ['look', [image]]);
    deepStrictEqual(await chips(view), []);
  });

  it('names the instruction files that the model is given, with their tokens, and whether they are off', async () => {
    const view = await open({ snapshot: snapshot() });
    strictEqual(await view.find('.instructions-chip').count(), 0);
    const files = [
      { path: 'AGENTS.md', tokens: 1_240 },
      { path: '.github/copilot-instructions.md', tokens: 90 },
    ];
    await answer(view, { instructions: { files, off: null }, choose_instructions: { files, off: 'session' } });
    await view.page.evaluate(() => window.dispatchEvent(new Event('focus')));
    const chip = view.find('.instructions-chip');
    await chip.waitFor();
    strictEqual((await chip.textContent())?.trim(), 'Instructions: AGENTS.md, copilot-instructions.md');
    strictEqual(
      await chip.getAttribute('title'),
      'The model follows these files:\nAGENTS.md: 1.2k tokens\n.github/copilot-instructions.md: 90 tokens',
    );
    deepStrictEqual(await axeViolations(view), []);
    await chip.click();
    await view.requested('choose_instructions');
    await view.find('.instructions-chip.off').waitFor();
    strictEqual((await chip.textContent())?.trim(), 'Instructions: off');
  });

  it('offers everything that can be attached at a button, and adds what was chosen', async () => {
    const view = await open({ snapshot: snapshot() });
    const chat: Attachment = { kind: 'session', name: 'Tide tables', hash: 'c'.repeat(64), mime: 'text/plain', tokens: 410 };
    await answer(view, { attach_menu: [file, chat] });
    strictEqual(await view.text('.composer-notice'), '@ for context, / for commands');
    await view.find('textarea').fill('look at');
    strictEqual(await view.text('.composer-notice'), '');
    await view.find('vscode-button.add-context').click();
    await view.find('tk-composer .attachment').nth(1).waitFor();
    deepStrictEqual([await chips(view), await view.find('textarea').inputValue()], [['src/tide.js', 'Tide tables'], 'look at']);
    strictEqual(await view.page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
    deepStrictEqual(await axeViolations(view), []);
    await view.page.evaluate(() => (window.fake.refuse['attach_menu'] = 'Git has no changes here to attach.'));
    await view.find('vscode-button.add-context').click();
    await view.find('tk-composer .problem').waitFor();
    match(await view.text('tk-composer .problem'), /Git has no changes here to attach\./);
  });

  it('offers the same behind # as behind @', async () => {
    const view = await open({ snapshot: snapshot() });
    await answer(view, { find_mentions: mentions, attach: file });
    await view.find('textarea').pressSequentially('look at #ti');
    await view.find('[role=option]').first().waitFor();
    await view.lastAsked({ method: 'find_mentions', query: 'ti' });
    await view.find('[role=option]').nth(1).click();
    strictEqual(await view.find('textarea').inputValue(), 'look at #src/tide.js ');
    deepStrictEqual(await chips(view), ['src/tide.js']);
  });

  it('sends an attachment without any text, and gives both back when that fails', async () => {
    const view = await open({ snapshot: snapshot({ attachments: [image] }) });
    await view.page.evaluate(() => (window.fake.refuse['send'] = 'The disk is full.'));
    await view.find('vscode-button.send').click();
    await view.find('.problem').waitFor();
    deepStrictEqual(await chips(view), ['shot.png']);
  });

  it('shows pictures in the transcript from the host only, and opens what is attached', async () => {
    const view = await open({ snapshot: null });
    await answer(view, { attachment_image: dot });
    await view.show(
      snapshot({ rows: [{ ...user('u1', 'What is this?'), kind: 'user', attachments: [image, file] } as ReturnType<typeof user>] }),
    );
    await view.find('.user-message tk-picture img').waitFor();
    const overflow = await view
      .find('.user-message')
      .evaluate((message) =>
        [...message.querySelectorAll('.attachment *')].some(
          (part) => part.getBoundingClientRect().right > message.getBoundingClientRect().right,
        ),
      );
    strictEqual(overflow, false, 'nothing of a wide picture or its name is cut off');
    strictEqual(await view.find('.user-message img').getAttribute('src'), dot);
    await view.button(/^Open file src\/tide\.js/).click();
    deepStrictEqual(await view.requested('open_attachment'), { method: 'open_attachment', attachment: file });
    await view.shot('transcript-attachments');
    deepStrictEqual(await axeViolations(view), []);
  });

  it('attaches a pasted picture, scaled down when it is large', async () => {
    const view = await open({ snapshot: snapshot() });
    await answer(view, { attach: image, attachment_image: dot });
    await paste(view, [{ width: 3_000, height: 1_000, type: 'image/png', name: 'image.png' }]);
    const request = await view.requested('attach');
    ok(request.method === 'attach' && request.source.kind === 'image');
    const bytes = Buffer.from(request.source.data, 'base64');
    deepStrictEqual([request.source.name, bytes.readUInt32BE(16), bytes.readUInt32BE(20)], ['Pasted image', 1_568, 523]);
    await view.until('the chip is there', async () => (await chips(view)).length === 1);
    const saved = await view.requested('save_draft');
    deepStrictEqual(saved.method === 'save_draft' && saved.attachments, [image]);
    await view.shot('composer-image');
  });

  it('says what is wrong with a picture that models do not take, and leaves pasted text to the text area', async () => {
    const view = await open({ snapshot: snapshot() });
    await paste(view, [{ width: 10, height: 10, type: 'image/tiff', name: 'scan.tiff' }]);
    await view.find('.problem').waitFor();
    match(await view.text('.problem'), /“scan\.tiff” is no image that models take: png, jpeg, webp and gif are\./);
    await paste(view, [{ width: 10, height: 10, type: 'text/plain', name: 'notes.txt' }]);
    await view.until('the reason is there', async () => (await view.text('.problem')).includes('outside of this workspace'));
    strictEqual((await view.requests('attach')).length, 0);
  });

  it('puts what arrives after another session was opened into nobody’s message, and says so', async () => {
    const view = await open({ snapshot: snapshot() });
    await view.page.evaluate(() => {
      window.fake.answers['attach'] = new Promise((resolve) =>
        document.addEventListener('arrives', ({ detail }: CustomEventInit) => resolve(detail)),
      );
    });
    await paste(view, [{ width: 10, height: 10, type: 'image/png', name: 'image.png' }]);
    await view.requested('attach');
    await view.show(snapshot({ session: { ...snapshot().session!, uuid: 'another' }, draft: 'Of another' }));
    await view.find('textarea').press('Enter');
    await view.requested('send');
    await view.page.evaluate((arrived) => document.dispatchEvent(new CustomEvent('arrives', { detail: arrived })), image);
    await view.find('tk-composer .problem').waitFor();
    match(await view.text('tk-composer .problem'), /“shot\.png” was for the session that was open before\. Attach it there again\./);
    deepStrictEqual([await chips(view), await view.find('.composer-remark').count()], [[], 0]);
  });

  it('takes files that are dropped from the Explorer by their place', async () => {
    const view = await open({ snapshot: snapshot() });
    await answer(view, { attach: file });
    await view.page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/uri-list', 'file:///w/a.ts\r\nfile:///w/b.ts');
      document.querySelector('.composer')?.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await view.until('both were asked for', async () => (await view.requests('attach')).length === 2);
    deepStrictEqual(
      await view.requests('attach'),
      ['file:///w/a.ts', 'file:///w/b.ts'].map((uri) => ({ method: 'attach', source: { kind: 'uri', uri } })),
    );
  });

  it('lets all be read of what the chosen command does, however narrow the view', async () => {
    const view = await open({ snapshot: snapshot(), width: 300 });
    const area = view.find('textarea');
    await area.pressSequentially('/');
    await view.find('[role=option]').first().waitFor();
    for (let i = 0; i < 3; i++) {
      const { cut, text } = await view
        .find('[role=option].active .completion-detail')
        .evaluate((e) => ({ cut: e.scrollWidth > e.clientWidth, text: e.textContent }));
      deepStrictEqual(cut, false, text ?? '');
      await area.press('ArrowDown');
    }
    await view.shot('composer-commands-narrow');
  });

  it('offers files behind @ by keyboard, puts the chosen one into the text and attaches it', async () => {
    const view = await open({ snapshot: snapshot() });
    await answer(view, { find_mentions: mentions, attach: file });
    const area = view.find('textarea');
    await area.pressSequentially('see @ti');
    await view.find('[role=option]').first().waitFor();
    await view.lastAsked({ method: 'find_mentions', query: 'ti' });
    deepStrictEqual(await options(view), ['Problems', 'tide.js', 'tides']);
    deepStrictEqual(await axeViolations(view), []);
    await view.shot('composer-mentions');
    await area.press('ArrowUp');
    strictEqual(await area.getAttribute('aria-activedescendant'), 'completion-2');
    await area.press('ArrowUp');
    await area.press('Enter');
    strictEqual(await area.inputValue(), 'see @src/tide.js ');
    deepStrictEqual(await view.requested('attach'), { method: 'attach', source: { kind: 'path', path: 'src/tide.js' } });
    await view.until('the chip is there', async () => (await chips(view)).length === 1);
    deepStrictEqual(await options(view), []);
    strictEqual((await view.requests('send')).length, 0);
  });

  it('takes Enter and a click for all that was typed, also while its search still runs', async () => {
    const view = await open({ snapshot: snapshot() });
    await answer(view, { find_mentions: mentions, attach: file });
    const area = view.find('textarea');
    await area.pressSequentially('see @t');
    await view.find('[role=option]').first().waitFor();
    /** Before anything else can run. */
    const goOn = (how: 'Enter' | 'click', found: Mention) =>
      view.page.evaluate(
        ([how, found]) => {
          window.fake.answers['find_mentions'] = [found];
          const field = document.querySelector<HTMLTextAreaElement>('tk-composer textarea')!;
          field.value += 'ides';
          field.dispatchEvent(new InputEvent('input', { bubbles: true }));
          if (how === 'click') document.querySelector<HTMLElement>('[role=option]')!.click();
          else field.dispatchEvent(new KeyboardEvent('keydown', { key: how, bubbles: true, cancelable: true }));
        },
        [how, found] as const,
      );
    await goOn('Enter', mentions[2]!);
    await view.until('what was looked for', async () => (await area.inputValue()) === 'see @src/tides ');
    deepStrictEqual(await view.requested('attach'), { method: 'attach', source: { kind: 'path', path: 'src/tides' } });
    await area.pressSequentially('@t');
    await view.find('[role=option]').filter({ hasText: 'tides' }).waitFor();
    await goOn('click', mentions[1]!);
    await view.until('the row that was clicked', async () => (await area.inputValue()) === 'see @src/tides @src/tides ');
    strictEqual((await view.requests('send')).length, 0);
  });

  it('does not take Enter behind a command for a choice that nobody has seen', async () => {
    const view = await open({ snapshot: snapshot() });
    await answer(view, { find_arguments: [{ value: 'ollama/llama3.1:8b', label: 'llama3.1:8b', detail: '' }] });
    await view.find('textarea').pressSequentially('/model');
    await view.find('[role=option]').first().waitFor();
    await view.page.evaluate(() => {
      const field = document.querySelector<HTMLTextAreaElement>('tk-composer textarea')!;
      field.value += ' ';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    });
    deepStrictEqual(await view.requested('slash'), { method: 'slash', name: 'model', argument: '' });
  });

  it('closes the menu with Escape without stopping anything, and stays out of the way of an input method', async () => {
    const view = await open({ snapshot: snapshot() });
    await answer(view, { find_mentions: mentions });
    const area = view.find('textarea');
    await area.pressSequentially('@');
    await view.find('[role=option]').first().waitFor();
    await area.press('Escape');
    deepStrictEqual(await options(view), []);
    await area.pressSequentially('t');
    await view.settled();
    deepStrictEqual(await options(view), []);
    await area.fill('');
    const input = await view.page.context().newCDPSession(view.page);
    await input.send('Input.imeSetComposition', { text: '@', selectionStart: 1, selectionEnd: 1 });
    await view.page.waitForFunction(() => document.querySelector('textarea')?.value === '@');
    await view.settled();
    deepStrictEqual(await options(view), []);
    deepStrictEqual(
      (await view.requests()).map(({ method }) => method),
      ['find_mentions'],
    );
  });

  it('offers the models of every provider behind /model, and runs the chosen one with Enter', async () => {
    const view = await open({ snapshot: snapshot() });
    const claude = { value: 'anthropic/claude-sonnet-5-5', label: 'Claude Sonnet 5.5', detail: 'anthropic/claude-sonnet-5-5' };
    const llama = { value: 'ollama/llama3.1:8b', label: 'llama3.1:8b', detail: 'ollama/llama3.1:8b' };
    await answer(view, { find_arguments: [claude, llama] });
    const area = view.find('textarea');
    await area.pressSequentially('/model l');
    await view.find('[role=option]').filter({ hasText: 'llama3.1' }).waitFor();
    await view.lastAsked({ method: 'find_arguments', name: 'model', query: 'l' });
    deepStrictEqual(await options(view), ['Claude Sonnet 5.5', 'llama3.1:8b']);
    await view.shot('composer-model-names');
    deepStrictEqual(await axeViolations(view), []);
    await area.press('ArrowDown');
    await area.press('Enter');
    deepStrictEqual(await view.requested('slash'), { method: 'slash', name: 'model', argument: 'ollama/llama3.1:8b' });
    deepStrictEqual([await area.inputValue(), await options(view)], ['', []]);
  });

  it('offers commands behind a slash, runs them with what follows, and keeps the text of one that does not exist', async () => {
    const view = await open({ snapshot: snapshot() });
    const area = view.find('textarea');
    await area.pressSequentially('/c');
    deepStrictEqual(await options(view), ['/compact [what to keep]', '/checkpoint']);
    await view.shot('composer-slash');
    deepStrictEqual(await axeViolations(view), []);
    await area.press('Tab');
    await area.pressSequentially('keep the ports');
    await area.press('Enter');
    deepStrictEqual(await view.requested('slash'), { method: 'slash', name: 'compact', argument: 'keep the ports' });
    strictEqual(await area.inputValue(), '');
    await area.pressSequentially('/undo');
    await area.press('Enter');
    await view.until('it was asked for', async () => (await view.requests('slash')).length === 2);
    await area.fill('/compcat everything');
    await area.press('Enter');
    await view.find('.problem').waitFor();
    match(await view.text('.problem'), /There is no command \/compcat\./);
    strictEqual(await area.inputValue(), '/compcat everything');
    await area.fill('/usr/bin/env fails');
    await area.press('Enter');
    await view.requested('send');
  });

  it('brings the last message back with the up arrow, into an empty composer only', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'first'), user('u2', 'second')] }) });
    const area = view.find('textarea');
    await area.press('ArrowUp');
    strictEqual(await area.inputValue(), 'second');
    await area.fill('mine');
    await area.press('ArrowUp');
    strictEqual(await area.inputValue(), 'mine');
  });

  it('says what the host knows of a draft that cannot be read whole', async () => {
    const view = await open({
      snapshot: snapshot({ draft: 'text', draftRemark: 'Some of what was attached to this draft cannot be read.' }),
    });
    match(await view.text('tk-composer [role=alert]'), /cannot be read/);
  });
});
