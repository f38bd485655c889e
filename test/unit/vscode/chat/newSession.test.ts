import { deepStrictEqual } from 'node:assert';
import type { Attachment } from '../../../../src/core/session/userMessage';
import { NewSessionDraft } from '../../../../src/vscode/chat/newSessionDraft';
import type { ModelSource } from '../../../../src/vscode/models/modelSource';
import { silentLog } from '../../../support/chat/conversationRig';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';

const attachment: Attachment = { kind: 'file', name: 'tide.js', hash: 'a'.repeat(64), mime: 'text/plain', path: 'src/tide.js' };

describe('a session before its first message', () => {
  let temp: ReturnType<typeof tempFolder>;
  const windows: ChatWindow[] = [];

  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(async () => {
    for (const window of windows.splice(0)) await window.close();
    temp.remove();
  });

  function open(state: Map<string, unknown>): ChatWindow {
    const window = new ChatWindow(temp.path, state);
    windows.push(window);
    return window;
  }

  it('tells whether its first message is too long to be sent whole', async () => {
    const { controller } = open(new Map());
    await controller.ready();
    const long = { ...attachment, tokens: 900_000 };
    deepStrictEqual(
      [
        await controller.measureDraft('short'),
        await controller.measureDraft('A long log. '.repeat(100_000)),
        await controller.measureDraft('short', [long]),
        await controller.measureDraft('short', [{ ...long, kind: 'image' }]),
      ],
      [false, true, true, false],
    );
  });

  it('keeps what is written and chosen for it over a reload, and begins with it', async () => {
    const state = new Map<string, unknown>();
    const first = open(state);
    await first.controller.ready();
    await first.controller.active.saveDraft('half a thought', [attachment]);
    await first.controller.choices.setModel('ollama/scripted-1');
    await first.controller.choices.setPolicy({ preset: 'goose' });
    await first.controller.choices.setThinkingLevel('high');
    first.controller.choices.setToolsOfNewSession(['recall']);
    await first.close();

    const second = open(state);
    await second.controller.ready();
    const { choices } = second.controller;
    deepStrictEqual(
      {
        draft: second.last.draft,
        attachments: second.last.attachments,
        model: choices.model,
        policy: choices.policy,
        thinkingLevel: choices.thinkingLevel,
        tools: choices.toolsOfNewSession,
      },
      {
        draft: 'half a thought',
        attachments: [attachment],
        model: 'ollama/scripted-1',
        policy: 'goose',
        thinkingLevel: 'high',
        tools: ['recall'],
      },
    );
    await second.ask('a whole thought');
    const { session } = second.controller.active;
    deepStrictEqual(
      {
        model: session?.model,
        policy: session?.policy,
        thinkingLevel: session?.thinkingLevel,
        thinking: second.model.requests[0]?.thinking,
        tools: session?.metadata['tools'],
      },
      { model: 'ollama/scripted-1', policy: { preset: 'goose' }, thinkingLevel: 'high', thinking: 'high', tools: ['recall'] },
    );
    // What was chosen to begin with is no change.
    deepStrictEqual(await second.texts(), ['a whole thought', 'Yes.']);
    deepStrictEqual(second.memory.newSessionDraft(), undefined);
    await second.controller.active.newSession();
    deepStrictEqual(
      { draft: second.last.draft, model: choices.model, policy: choices.policy, thinkingLevel: choices.thinkingLevel },
      { draft: '', model: null, policy: null, thinkingLevel: null },
    );
  });

  for (const planning of [true, false])
    it(`takes what is chosen while its first message brings it into being, Plan mode ${planning ? 'on' : 'off'} among it`, async () => {
      let chosen: Promise<unknown> = Promise.resolve();
      const opened = async () => {
        const store = await openTestStore(temp.path);
        const create = store.createSession.bind(store);
        // What it begins with has been read.
        store.createSession = (session) => {
          chosen = choose();
          return create(session);
        };
        return store;
      };
      const window = new ChatWindow(temp.path, new Map(), opened);
      windows.push(window);
      const { choices } = window.controller;
      const choose = () =>
        Promise.all([
          choices.setPlanning(planning),
          choices.setModel('ollama/scripted-1'),
          choices.setPolicy({ preset: 'goose' }),
          choices.setThinkingLevel('high'),
          choices.setHeedsInstructionFiles(false),
        ]);
      await window.controller.ready();
      await choices.setPlanning(!planning);
      await window.ask('Change the file');
      await chosen;
      await window.idle();
      const modes = window.deltas.flatMap((delta) => (delta.kind === 'mode' ? delta.mode : []));
      deepStrictEqual(
        {
          planning: choices.planning,
          told: modes,
          model: choices.model,
          policy: choices.policy,
          thinkingLevel: choices.thinkingLevel,
          heeds: choices.heedsInstructionFiles,
        },
        { planning, told: [planning ? 'plan' : 'chat'], model: 'ollama/scripted-1', policy: 'goose', thinkingLevel: 'high', heeds: false },
      );
    });

  it('is there again after a look at another one', async () => {
    const window = open(new Map());
    await window.ask('First');
    const first = window.controller.active.session!.uuid;
    await window.controller.active.newSession();
    await window.controller.active.saveDraft('half a thought');
    await window.controller.active.openSession(first);
    deepStrictEqual(window.last.draft, '');
    await window.controller.active.newSession();
    deepStrictEqual(window.last.draft, 'half a thought');
  });

  it('is kept apart from what arrives late of a session that was left, and that from it', async () => {
    const window = open(new Map());
    const { active } = window.controller;
    await window.ask('One');
    const one = active.session!.uuid;
    await active.saveDraft('kept in one');
    await active.newSession();
    await window.ask('Two');
    const two = active.session!.uuid;
    await active.openSession(one);
    await active.keepDraft(two, { text: 'typed in two', attachments: [] });
    await active.keepDraft(null, { text: 'typed in none', attachments: [] });
    const drafts = [active.draft.text];
    for (const go of [() => active.openSession(two), () => active.newSession()]) {
      await go();
      drafts.push(window.last.draft);
    }
    deepStrictEqual(drafts, ['kept in one', 'typed in two', 'typed in none']);
  });

  it('goes on in the session that has begun with it, also where the view has not heard of that', async () => {
    const window = open(new Map());
    const { active } = window.controller;
    await window.ask('One');
    await active.keepDraft(null, { text: 'and then', attachments: [] });
    await active.keepDraft('a session that is gone', { text: 'lost', attachments: [] });
    const here = active.draft.text;
    await active.newSession();
    deepStrictEqual([here, window.last.draft], ['and then', '']);
  });

  it('keeps what arrives late of it out of the session that had begun before', async () => {
    const window = open(new Map());
    const { active } = window.controller;
    await window.ask('One');
    const one = active.session!.uuid;
    await active.newSession();
    await active.openSession(one);
    await active.keepDraft(null, { text: 'for a new one', attachments: [] });
    const here = active.draft.text;
    await active.newSession();
    deepStrictEqual([here, window.last.draft], ['', 'for a new one']);
  });

  it('keeps the text that another version of the extension has written', async () => {
    const window = open(
      new Map<string, unknown>([
        ['threadkeeper.looseSession', { draft: { text: 'from the future', attachments: [{ kind: 'hologram' }] }, mood: 'hopeful' }],
      ]),
    );
    await window.controller.ready();
    deepStrictEqual([window.last.draft, window.controller.choices.model], ['from the future', null]);
  });

  it('shows the model that was chosen last, also where an earlier one is answered for later', async () => {
    const answers = new Map<string | null, () => void>();
    const models = {
      resolve: (model: string | null) => new Promise((resolve) => answers.set(model, () => resolve({ info: { id: model } }))),
    } as unknown as ModelSource;
    const draft = new NewSessionDraft(models, { newSessionDraft: () => undefined, setNewSessionDraft: async () => undefined }, silentLog);
    draft.model = 'slow';
    const slow = draft.resolve();
    draft.model = 'quick';
    const quick = draft.resolve();
    answers.get('quick')!();
    answers.get('slow')!();
    await Promise.all([slow, quick]);
    deepStrictEqual(draft.modelInfo.id, 'quick');
  });
});
