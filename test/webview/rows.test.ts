import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { assistant, compaction, conversation, liveText, missingKey, noon, running, snapshot, tool, user } from './support/fixtures';
import { openSessions } from './support/sessionList';
import { useViews, type View } from './support/openView';

const actions = (view: View, row: string) =>
  view
    .find(`tk-row[data-id="${row}"] .actions vscode-button`)
    .allTextContents()
    .then((all) => all.map((t) => t.trim()));

const menu = (view: View, row: string) =>
  view
    .find(`tk-row[data-id="${row}"] [role=menuitem]`)
    .allTextContents()
    .then((all) => all.map((t) => t.trim()));

describe('rows', function () {
  this.timeout(60_000);
  const open = useViews();

  it('a compaction says what it did, shows its summary and can be undone', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [...conversation(2), compaction('x1', { note: 'Made from the last checkpoint.', unknownIds: ['#911'] })],
      }),
    });
    match(
      await view.text('.compaction-card'),
      /^Compacted 142 messages 168\.2k → 3\.9k tokens · summary by Claude Haiku 4\.5 · Key details kept: 97% · 14 s Made from the last checkpoint\./,
    );
    deepStrictEqual(await actions(view, 'x1'), ['Show summary', 'Undo']);
    deepStrictEqual(await menu(view, 'x1'), ['Edit summary…', 'Re-summarize…', 'Compare before and after', 'Show originals']);
    await view.button('Show summary').click();
    match(
      await view.text('.compaction-card'),
      /The summary has 97% of 214 key details; the rest can be looked up in the originals\. 24 of 24 test searches found the original\. Fixed a wrong source reference \(#911\)\./,
    );
    strictEqual(await view.text('.summary .md-h2'), 'Where it stands');
    await view.button('Hide summary').click();
    strictEqual(await view.find('.summary').count(), 0);
    await view.button('Undo').click();
    await view.requested('undo_compaction');
    deepStrictEqual(await view.requests(), [{ method: 'undo_compaction' }]);
    await view.delta(
      { kind: 'row_changed', row: compaction('x1', { state: 'undone' }) },
      { kind: 'row', row: { kind: 'undo', id: 'n1', at: noon, tokensRestored: 164_300 } },
    );
    match(await view.text('.compaction-card'), /undone/);
    deepStrictEqual(
      [await actions(view, 'x1'), await menu(view, 'x1')],
      [['Show summary'], ['Compare before and after', 'Show originals']],
    );
    match(await view.text('tk-row[data-id=n1]'), /Compaction undone: the context has 164\.3k tokens again/);
  });

  it('only the newest live compaction offers Undo, and every kind says how it was made', async () => {
    const rows = [
      compaction('x1', { state: 'superseded', rung: 'extractive', model: null }),
      compaction('x2', { rung: 'mask', model: null, summary: '', trigger: 'manual' }),
      compaction('x3', { rung: 'prepared' }),
      compaction('x4', { rung: 'truncate', model: null, state: 'undone', trigger: 'overflow' }),
    ];
    const view = await open({ snapshot: snapshot({ rows }) });
    deepStrictEqual(await Promise.all(rows.map((r) => actions(view, r.id))), [
      ['Show summary'],
      [],
      ['Show summary', 'Undo'],
      ['Show summary'],
    ]);
    const seen = ['Compare before and after', 'Show originals'];
    deepStrictEqual(await Promise.all(rows.map((r) => menu(view, r.id))), [seen, seen, ['Edit summary…', 'Re-summarize…', ...seen], seen]);
    deepStrictEqual(
      (await view.find('.compaction-facts').allTextContents()).map((t) => t.trim().split(' · ').slice(1).join(' · ')),
      [
        'extractive summary · Key details kept: 97% · 14 s',
        'old tool results left out · on request · Key details kept: 97% · 14 s',
        'summary by Claude Haiku 4.5, prepared in background · Key details kept: 97% · 14 s',
        'oldest messages left out · the model refused the length · Key details kept: 97% · 14 s',
      ],
    );
    strictEqual(await view.text('tk-row[data-id=x1] .state'), 'superseded');
  });

  it('a compaction whose key details nobody measured says so, and not that all are kept', async () => {
    const view = await open({ snapshot: snapshot({ rows: [compaction('x1', { continuity: null })] }) });
    match(await view.text('.compaction-facts'), /· Key details kept: not measured ·/);
    await view.button('Show summary').click();
    ok(!(await view.text('.compaction-card')).includes('key details;'));
    await view.delta({ kind: 'row', row: compaction('x2', { continuity: null }) });
    await view.page.waitForFunction(() =>
      [...document.querySelectorAll('[aria-live]')].some(({ textContent }) => textContent?.includes('Key details kept: not measured')),
    );
  });

  it('a compaction on a return says what it saved, once that has been billed', async () => {
    const row = compaction('x1', { trigger: 'cold', rung: 'prepared', durationMs: 5 });
    const view = await open({ snapshot: snapshot({ rows: [row] }) });
    match(await view.text('.compaction-facts'), /· no longer in the prompt cache · Key details/);
    await view.delta({ kind: 'row_changed', row: { ...row, saved: { tokens: 35_000, cost: 0.13 } } });
    match(await view.text('.compaction-facts'), /· no longer in the prompt cache · saved 35k tokens \(\$0\.13\) · Key details/);
  });

  it('a compaction that another program made does not count what it folded', async () => {
    const view = await open({ snapshot: snapshot({ rows: [compaction('x1', { messages: 0 })] }) });
    strictEqual(await view.text('.compaction-title'), 'Compacted earlier messages');
  });

  it('a summary can be rewritten from its card, its originals found, and a better one is said to have replaced it', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [
          ...conversation(2),
          compaction('x1', { state: 'replaced', reusable: true, rung: 'extractive', model: null }),
          compaction('x2', { trigger: 'retry', coversFrom: 'r0' }),
        ],
      }),
    });
    strictEqual(await view.text('tk-row[data-id=x1] .state'), 'replaced');
    match(await view.text('tk-row[data-id=x2] .compaction-facts'), /summary improved/);
    for (const name of ['Edit summary…', 'Re-summarize…', 'Show originals']) {
      await view.find('tk-row[data-id=x2] .more > button').click();
      await view.page.getByRole('menuitem', { name }).click();
    }
    await view.find('tk-row[data-id=x1] .more > button').click();
    await view.page.getByRole('menuitem', { name: 'Use this summary again' }).click();
    await view.requested('reuse_summary');
    deepStrictEqual(await view.requests(), [
      { method: 'edit_summary' },
      { method: 'resummarize' },
      { method: 'show_entry', id: 'r0' },
      { method: 'reuse_summary', id: 'x1' },
    ]);
    await view.delta({ kind: 'row_changed', row: compaction('x1', { state: 'replaced', rung: 'extractive', model: null }) });
    await view.find('tk-row[data-id=x1] .more > button').click();
    await view.page.getByRole('menuitem', { name: 'Compare before and after' }).waitFor();
    strictEqual(await view.page.getByRole('menuitem', { name: 'Use this summary again' }).count(), 0);
  });

  it('a message and a call are excluded and included again, and say that they are not in context', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [user('u1', 'A long paste'), assistant('a1', 'Noted.', { excluded: true }), tool('t1'), user('u2', 'Next')],
      }),
    });
    await view.button('Exclude your message').first().focus();
    await view.page.keyboard.press('Enter');
    await view.button('Include again').click();
    await view.find('tk-row[data-id=t1] .tool-line').click();
    await view.button('Exclude from context').click();
    await view.until('three requests', async () => (await view.requests()).length === 3);
    deepStrictEqual(await view.requests(), [
      { method: 'exclude', id: 'u1' },
      { method: 'include', id: 'a1' },
      { method: 'exclude', id: 't1' },
    ]);
    strictEqual(await view.text('tk-row[data-id=a1] .remark'), 'Not in context Include again');
    await view.delta({ kind: 'folded', firstKept: 'u2' });
    strictEqual(await view.find('.excluded-remark').count(), 0, 'a summary stands for it now');
  });

  it('a compaction is compared, whatever has become of it', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi'), compaction('x1', { state: 'undone' })] }) });
    await view.find('.more > button').focus();
    await view.page.keyboard.press('Enter');
    await view.until('the menu to have the focus', () =>
      view.page.evaluate(() => document.activeElement?.getAttribute('role') === 'menuitem'),
    );
    await view.page.keyboard.press('Enter');
    deepStrictEqual(await view.requested('compare'), { method: 'compare', id: 'x1' });
  });

  it('a message is pinned and unpinned by the keyboard, and says that it is', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Never on port 4000'), assistant('a1', 'Noted.')] }) });
    await view.button('Pin your message').focus();
    await view.page.keyboard.press('Enter');
    deepStrictEqual(await view.requested('pin'), { method: 'pin', id: 'u1' });
    await view.delta({ kind: 'row_changed', row: user('u1', 'Never on port 4000', { pinned: true }) });
    strictEqual(await view.text('tk-row[data-id=u1] .remark'), 'Pinned');
    await view.page.keyboard.press('Enter');
    deepStrictEqual(await view.requested('unpin'), { method: 'unpin', id: 'u1' });
    strictEqual(await view.find('[data-id=a1] [role=menuitem]').first().textContent(), 'Pin this answer');
  });

  it('a checkpoint is one quiet line; what it says is a click away', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [{ kind: 'checkpoint', id: 'k1', at: noon, tokens: 50_200, model: null, summary: '## Topics\n\n- ports' }],
      }),
    });
    strictEqual(await view.text('.checkpoint'), 'Saved a snapshot for the next compaction (50.2k tokens)');
    await view.find('.checkpoint button').click();
    strictEqual(await view.text('.checkpoint-text li'), 'ports');
  });

  it('a skill is one quiet line; what it tells the model is a click away', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [{ kind: 'skill', id: 's1', at: noon, title: 'tides (.claude/skills/tides.md)', text: '1. Read the gauge' }],
      }),
    });
    strictEqual(await view.text('.checkpoint'), 'Read the skill tides (.claude/skills/tides.md)');
    await view.find('.checkpoint button').click();
    strictEqual(await view.text('.checkpoint-text li'), 'Read the gauge');
  });

  it('folded rows stay readable above the boundary that says what the model sees of them', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(8) }) });
    strictEqual(await view.find('.fold-boundary').count(), 0);
    await view.delta({ kind: 'folded', firstKept: 'r4' });
    strictEqual(await view.find('tk-row.folded').count(), 4);
    strictEqual(await view.text('.fold-boundary'), 'The model sees these through the summary');
    ok(await view.find('tk-row[data-id=r3] + .fold-boundary').count());
    await view.delta({ kind: 'folded', firstKept: null });
    strictEqual(await view.find('tk-row.folded').count(), 0);
  });

  it('a nudge is one quiet line with its outcome; its words are a click away', async () => {
    const nudge = {
      kind: 'nudge',
      id: 'n1',
      at: noon,
      percent: 50,
      usedTokens: 100_400,
      text: 'Save what must not be lost.',
      outcome: 'delivered',
      writes: [] as never[],
    } as const;
    const view = await open({ snapshot: snapshot({ rows: [nudge] }) });
    strictEqual(await view.text('.nudge'), 'Memory reminder at 50% (100.4k): the model was asked to save what matters');
    await view.delta({ kind: 'row_changed', row: { ...nudge, outcome: 'acted' } });
    match(await view.text('.nudge'), /the model saved a note$/);
    await view.find('.nudge button').click();
    strictEqual(await view.text('.nudge-text'), 'Save what must not be lost.');
    await view.delta({
      kind: 'row_changed',
      row: { ...nudge, outcome: 'acted', writes: [{ call: 'w1', path: 'ports.md', command: 'create', hasDiff: true }] },
    });
    match(await view.text('.note-write'), /Wrote ports\.md/);
    await view.button('Diff of the change in ports.md').click();
    await view.button('Edit the note ports.md').click();
    await view.delta({ kind: 'row_changed', row: { ...nudge, outcome: 'expired' } });
    await view.button('Save a note now…').click();
    deepStrictEqual(await view.requests(), [
      { method: 'show_diff', id: 'w1' },
      { method: 'open_note', path: 'ports.md' },
      { method: 'save_note' },
    ]);
  });

  it('shows the foreground compaction with its time and a way out', async () => {
    const view = await open({
      snapshot: snapshot({ rows: [user('u1', 'Hi')], turn: running('compacting', { startedAt: noon + 583_000 }) }),
      now: noon,
    });
    await view.page.clock.pauseAt(noon + 600_000);
    strictEqual(await view.text('.turn-text'), 'Organizing conversation history… (17 s)');
    await view.page.clock.runFor(1000);
    strictEqual(await view.text('.turn-text'), 'Organizing conversation history… (18 s)');
    await view.page.clock.resume();
    await view.button('Cancel').click();
    deepStrictEqual(await view.requested('cancel_compaction'), { method: 'cancel_compaction' });
  });

  it('counts down to the next attempt, says why, and can be stopped', async () => {
    const retry = { attempt: 2, at: noon + 604_000, reason: 'overloaded' };
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi')], turn: running('retrying', { retry }) }), now: noon });
    await view.page.clock.pauseAt(noon + 600_000);
    strictEqual(await view.text('.turn-text'), 'Overloaded, trying again in 4 s');
    await view.page.clock.runFor(2000);
    strictEqual(await view.text('.turn-text'), 'Overloaded, trying again in 2 s');
    await view.page.clock.runFor(4000);
    strictEqual(await view.text('.turn-text'), 'Overloaded, trying again…');
    await view.page.clock.resume();
    await view.find('.turn-status vscode-button').click();
    deepStrictEqual(await view.requested('stop'), { method: 'stop' });
  });

  it('an error offers what helps: trying again, a key, the log', async () => {
    const error = { kind: 'error', id: 'e1', at: noon, reason: 'bad_key', text: 'The key was not accepted.' } as const;
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi'), error] }) });
    deepStrictEqual(await actions(view, 'e1'), ['Set API key…', 'Try again', 'Show log']);
    for (const name of ['Set API key…', 'Try again', 'Show log']) await view.button(name).click();
    await view.requested('show_log');
    deepStrictEqual(await view.requests(), [{ method: 'set_api_key' }, { method: 'retry' }, { method: 'show_log' }]);
    strictEqual(await view.find('.error-row.past').count(), 0);
    await view.delta({ kind: 'turn', turn: running('waiting') });
    deepStrictEqual(await actions(view, 'e1'), ['Show log']);
    strictEqual(await view.find('.error-row.past').count(), 1, 'nothing to do about it any more');
    await view.delta({ kind: 'turn', turn: null }, { kind: 'row', row: { ...error, id: 'e2', reason: 'network' } });
    deepStrictEqual([await actions(view, 'e1'), await actions(view, 'e2')], [['Show log'], ['Try again', 'Show log']]);
    await view.delta({ kind: 'row', row: { ...error, id: 'e3', reason: 'no_key' } });
    deepStrictEqual([await actions(view, 'e2'), await actions(view, 'e3')], [['Show log'], ['Set API key…', 'Select model…', 'Try again']]);
    await view.button('Select model…').click();
    deepStrictEqual(await view.requested('select_model'), { method: 'select_model' });
  });

  it('a turn over the cost limit offers the place where the limit stands', async () => {
    const text = 'This session has cost $0.50, and its limit is $0.50. Raise the limit, or start a new session.';
    const view = await open({
      snapshot: snapshot({ rows: [user('u1', 'Hi'), { kind: 'error', id: 'e1', at: noon, reason: 'cost_limit', text }] }),
    });
    deepStrictEqual(await actions(view, 'e1'), ['Edit Session Details…', 'Try again', 'Show log']);
    await view.button('Edit Session Details…').click();
    deepStrictEqual(await view.requested('edit_session_details'), { method: 'edit_session_details' });
  });

  it('offers to try again also behind quiet rows, and for a message that was stopped before its answer', async () => {
    const error = { kind: 'error', id: 'e1', at: noon, reason: 'network', text: 'No connection.' } as const;
    const model = { kind: 'info', id: 'i1', at: noon, text: 'Model: Claude Haiku 4.5' } as const;
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi'), error, model] }) });
    deepStrictEqual([await actions(view, 'e1'), await view.find('.user-message + .remark').count()], [['Try again', 'Show log'], 0]);
    await view.delta({ kind: 'row', row: user('u2', 'Hello?') }, { kind: 'row', row: { ...model, id: 'i2' } });
    deepStrictEqual(
      [await actions(view, 'e1'), await view.text('[data-id=u2] .user-message + .remark')],
      [['Show log'], 'No answer yet Try again'],
    );
    await view.button('Try again').click();
    deepStrictEqual(await view.requested('retry'), { method: 'retry' });
    await view.delta({ kind: 'turn', turn: running('waiting') });
    strictEqual(await view.find('.user-message + .remark').count(), 0);
    await view.delta({ kind: 'row', row: assistant('a2', 'Yes.') }, { kind: 'turn', turn: null });
    strictEqual(await view.find('.user-message + .remark').count(), 0);
  });

  it('a tool call is one line with its status; input and output are a click away', async () => {
    const view = await open({ snapshot: snapshot({ rows: [tool('c1', { status: 'running', output: null })] }) });
    match(await view.text('.tool-line'), /^Read src\/parser\/tokens\.ts running$/);
    await view.find('.tool-line').click();
    deepStrictEqual(await view.find('.tool-label').allTextContents(), ['Input']);
    await view.delta({ kind: 'row_changed', row: tool('c1', { status: 'error', output: 'ENOENT' }) });
    match(await view.text('.tool-line'), /failed$/);
    deepStrictEqual(await view.find('.tool-details pre').allTextContents(), ['{\n  "path": "src/parser/tokens.ts"\n}', 'ENOENT']);
  });

  it('thinking is folded away, also while it streams', async () => {
    const view = await open({ snapshot: snapshot({ turn: running('streaming') }) });
    await view.delta(liveText('l1', 'Let me *see*', 'thinking'));
    strictEqual(await view.text('.thinking button'), 'Thinking…');
    await view.find('.thinking button').click();
    strictEqual(await view.text('.thoughts em'), 'see');
    await view.delta({
      kind: 'row',
      row: { kind: 'thinking', id: 'l1', at: noon, text: 'Let me *see*.', durationMs: 65_000, folded: false },
    });
    strictEqual(await view.text('.thinking button'), 'Thought for 1 min 5 s');
    strictEqual(await view.text('.thoughts'), 'Let me see.');
  });

  it('a block that is dropped leaves nothing behind', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi')], turn: running('streaming') }) });
    await view.delta(liveText('l1', 'First attempt'), { kind: 'live_dropped', id: 'l1' }, liveText('l2', 'Second attempt'));
    strictEqual(await view.find('tk-markdown').count(), 1);
    strictEqual(await view.text('tk-markdown'), 'Second attempt');
  });

  it('a very long message is cut in the view and can be read whole', async () => {
    const text = `${'words and more words\n'.repeat(400)}the last line`;
    const view = await open({ snapshot: snapshot({ rows: [user('u1', text, { excerpted: true })] }) });
    ok(!(await view.text('.user-text')).includes('the last line'));
    match(await view.text('.remark'), /the model is sent its beginning and end/);
    await view.button('Show all (8,413 characters)').click();
    ok((await view.text('.user-text')).endsWith('the last line'));
    strictEqual(await view.button('Show less').count(), 2, 'one at each end');
    await view.button('Show less').first().click();
    strictEqual(await view.page.evaluate(() => document.activeElement?.textContent), 'Show all (8,413 characters)');
    ok(!(await view.text('.user-text')).includes('the last line'));
  });

  it('first run teaches and offers a key, the models that are there, or offline mode', async () => {
    const view = await open({ snapshot: snapshot({ session: null, sessions: [], context: null, connection: missingKey }) });
    strictEqual(await view.text('.composer-notice'), '@ for context, / for commands', 'nothing was chosen yet');
    await view.button('Set API key').click();
    await view.button('Use a VS Code language model').click();
    await view.button('Use Ollama').click();
    await view.button('Use an OpenAI-compatible server').click();
    await view.button('Try offline').click();
    await view.requested('choose_offline');
    deepStrictEqual(await view.requests(), [
      { method: 'set_api_key' },
      { method: 'select_model', provider: 'vscode' },
      { method: 'select_model', provider: 'ollama' },
      { method: 'set_api_key', provider: 'openai-compatible' },
      { method: 'choose_offline' },
    ]);
    await view.delta({ kind: 'connection', connection: { ...missingKey, offlineChosen: true } });
    strictEqual(await view.find('.first-run').count(), 0);
    strictEqual(await view.text('.composer-notice'), 'No AI answers Set API key…');
  });

  it('offers the key below an answer without AI also where nobody has chosen to be offline', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(1), connection: missingKey }) });
    strictEqual(await view.text('.composer-notice'), 'No AI answers Set API key…');
    await view.button('Set API key…').click();
    await view.requested('set_api_key');
  });

  it('first run begins at its beginning where the view is too small for it', async () => {
    const view = await open({
      snapshot: snapshot({ session: null, sessions: [], context: null, connection: missingKey }),
      width: 220,
      height: 400,
    });
    const [top, hidden] = await view
      .find('.scroller')
      .evaluate((scroller) => [scroller.scrollTop, scroller.scrollHeight - scroller.clientHeight]);
    deepStrictEqual([top, hidden! > 0], [0, true]);
  });

  it('announces a finished answer once, and not its pieces', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi')], turn: running('streaming') }) });
    const spoken = () => view.text('tk-app > [role=status]');
    await view.delta(liveText('l1', 'It is **done**, see'));
    strictEqual(await spoken(), '');
    strictEqual(await view.find('[role=log]').getAttribute('aria-live'), 'off');
    await view.delta({ kind: 'row', row: assistant('l1', 'It is **done**, see [here](https://x.org).\n\n```ts\nlet a;\n```') });
    strictEqual(await spoken(), '');
    await view.delta({ kind: 'turn', turn: null });
    strictEqual(await spoken(), 'Answer: It is done, see here. Code block.');
  });

  it('renames in place, opens sessions and models', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi')] }) });
    await view.find('.title-button').click();
    const field = view.find('vscode-text-field.rename input');
    await field.fill('New name');
    await field.press('Escape');
    deepStrictEqual(await view.requests(), []);
    await view.find('.title-button').click();
    await field.fill('New name');
    await field.press('Enter');
    await view.requested('rename_session');
    await view.delta({ kind: 'session', session: { uuid: 's1', id: '20261122_001', title: 'New name' } });
    match(await view.text('h1'), /^New name/);
    await openSessions(view);
    deepStrictEqual(await view.find('.session-title').allTextContents(), [
      'New name',
      'Release checklist',
      'Why is the cache cold after every deployment on Mondays?',
    ]);
    await view.page.keyboard.press('ArrowDown');
    await view.page.keyboard.press('Enter');
    await view.find('.model-button').click();
    await view.requested('select_model');
    deepStrictEqual(await view.requests(), [
      { method: 'rename_session', title: 'New name' },
      { method: 'open_session', uuid: 's2' },
      { method: 'select_model' },
    ]);
  });

  it('keeps the open list of sessions as it was opened: what is used meanwhile does not move away under the pointer', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi')] }) });
    const [first, second, third] = snapshot().sessions;
    await openSessions(view);
    const begun = { uuid: 's4', id: '20261122_002', title: 'Begun elsewhere', updatedAt: noon };
    await view.delta({ kind: 'sessions', sessions: [begun, { ...second!, title: 'Checklist' }, first!, third!] });
    const titles = () => view.find('.session-title').allTextContents();
    deepStrictEqual(await titles(), ['Parser rewrite', 'Checklist', third!.title, 'Begun elsewhere']);
    await view.find('.session-item').nth(1).click();
    deepStrictEqual(await view.requested('open_session'), { method: 'open_session', uuid: 's2' });
    await openSessions(view);
    await view.settled();
    deepStrictEqual(await titles(), ['Begun elsewhere', 'Checklist', 'Parser rewrite', third!.title]);
  });

  it('lists the sessions below the header, which is one line in a narrow view too, and gives the title what room there is', async () => {
    for (const width of [200, 420]) {
      const view = await open({ snapshot: snapshot({ rows: conversation(2) }), width });
      await openSessions(view);
      const bottom = await view.find('.header-line').evaluate((e) => e.getBoundingClientRect().bottom);
      const top = await view.find('.sessions').evaluate((e) => e.getBoundingClientRect().top);
      ok(top >= bottom && top < bottom + 4, `${top} below ${bottom}`);
      ok(bottom < 40, `the header is ${bottom} pixels high`);
      strictEqual(await view.find('.title-button .icon').isVisible(), false);
      await view.page.keyboard.press('Escape');
      await view.find('.title-button').hover();
      strictEqual(await view.find('.title-button .icon').isVisible(), true);
    }
  });

  it('ends a renaming by a click into the composer, which is where one writes then; a key gives the title back the focus', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi')] }) });
    const field = view.find('vscode-text-field.rename input');
    await view.find('.title-button').click();
    await field.fill('New name');
    await view.find('textarea').click();
    deepStrictEqual(await view.requested('rename_session'), { method: 'rename_session', title: 'New name' });
    await view.settled();
    await view.page.keyboard.type('a b');
    deepStrictEqual([await view.find('textarea').inputValue(), await field.count()], ['a b', 0]);
    await view.find('.title-button').click();
    await field.press('Escape');
    await view.settled();
    strictEqual(await view.page.evaluate(() => document.activeElement?.className), 'title-button');
  });
});
