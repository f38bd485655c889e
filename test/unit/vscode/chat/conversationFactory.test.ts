import { deepStrictEqual } from 'node:assert';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileWrites } from '../../../../src/node/rewind/fileWrites';
import { UuidV7 } from '../../../../src/node/runtime/ids';
import { CommandRunner } from '../../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../../src/node/tools/diskWorkspace';
import { ConversationFactory } from '../../../../src/vscode/chat/conversationFactory';
import { defaultsOf, readSettings, type Settings } from '../../../../src/vscode/settingsValues';
import { silentLog } from '../../../support/chat/conversationRig';
import { projectRoot } from '../../../support/paths';
import { says, ScriptedModel } from '../../../support/chat/scriptedModel';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';

describe('the conversations of a window', () => {
  it('are told what the workspace wants heeded where the setting and the trust of the user allow it, as it was when they were opened', async () => {
    const temp = tempFolder();
    const workspace = join(temp.path, 'work');
    const store = await openTestStore(temp.path);
    await mkdir(workspace);
    await writeFile(join(workspace, 'AGENTS.md'), 'Use tabs.');
    const model = new ScriptedModel({ window: 50_000, maxOutput: 1_000 });
    const binding = { client: model, info: await model.describe('scripted-1'), summarizer: null };
    const packageJson: unknown = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'));
    const settings: Settings = {
      ...readSettings({ value: () => undefined, explicit: () => undefined, default: defaultsOf(packageJson) }).settings,
      skillFolders: [],
    };
    const never = () => Promise.reject(new Error('not asked for here'));
    let now: Settings = settings;
    let isTrusted = true;
    let isHeeded = true;
    const runtime = new ConversationFactory({
      distDir: join(projectRoot, 'dist'),
      folders: () => [workspace],
      userNotes: join(temp.path, 'notes'),
      settings: () => now,
      workspace: new DiskWorkspace([workspace], new CommandRunner()),
      writes: new FileWrites(),
      unsavedFiles: () => [],
      otherTools: () => [],
      hasKey: () => false,
      isTrusted: () => isTrusted,
      heedsInstructionFiles: () => isHeeded,
      nestedInstructionFiles: async () => [],
      askWhenFull: never,
      reviewCompaction: async () => true,
      session: () => '',
      elsewhere: () => null,
      askBudget: async () => true,
      reach: never,
      hosted: {} as never,
      log: silentLog,
    });
    const standing = async (metadata: Readonly<Record<string, unknown>> = {}) => {
      const session = await store.createSession({ uuid: new UuidV7().next(), channel: 'vscode', metadata, createdAt: 1 });
      const conversation = await runtime.openConversation(store, session, { fallback: binding, resolve: async () => binding });
      const texts: (string | undefined)[] = [];
      for (const turn of ['one', 'two']) {
        model.scripts.push(says('Yes.'));
        await conversation.send(turn);
        texts.push(/The user's standing instructions:\n([^]*)$/.exec(model.requests.at(-1)!.system)?.[1]);
        if (turn === 'one') await writeFile(join(workspace, 'AGENTS.md'), 'Use spaces.');
      }
      await writeFile(join(workspace, 'AGENTS.md'), 'Use tabs.');
      conversation.dispose();
      await conversation.idle();
      return texts;
    };
    try {
      const ofWorkspace = "From the workspace's AGENTS.md:\nUse tabs.";
      const own = 'Be brief.';
      now = { ...settings, instructions: own, instructionFiles: true };
      deepStrictEqual(await standing(), [`${own}\n\n${ofWorkspace}`, `${own}\n\n${ofWorkspace}`]);
      now = { ...settings, instructionFiles: true };
      deepStrictEqual(await standing(), [ofWorkspace, ofWorkspace]);
      isTrusted = false;
      deepStrictEqual(await standing(), [undefined, undefined]);
      [isTrusted, now] = [true, { ...settings, instructionFiles: false }];
      deepStrictEqual(await standing(), [undefined, undefined]);
      [isHeeded, now] = [false, { ...settings, instructionFiles: true }];
      deepStrictEqual(await standing(), [undefined, undefined]);
      isHeeded = true;
      deepStrictEqual(await standing({ instructionFiles: false }), [undefined, undefined]);
      now = { ...settings, instructionFiles: false };
      const skilled = { ...settings, skills: true, skillFolders: ['.claude/skills', join(temp.path, 'own')] };
      await mkdir(join(workspace, '.claude', 'skills'), { recursive: true });
      await writeFile(join(workspace, '.claude', 'skills', 'tides.md'), '---\ndescription: Reads tables.\n---\nSlowly.');
      await mkdir(join(temp.path, 'own'));
      await writeFile(join(temp.path, 'own', 'ports.md'), '---\ndescription: Knows ports.\n---\nAll.');
      const lists = async () => (await standing()).map((text) => text?.match(/^- .*$/gm));
      const offered: boolean[] = [];
      for (const [trust, settingsNow, lines] of [
        [true, skilled, ['- ports: Knows ports.', '- tides: Reads tables.']],
        [true, { ...skilled, skills: false }, ['- ports: Knows ports.']],
        [false, skilled, undefined],
      ] as const) {
        [isTrusted, now] = [trust, settingsNow];
        deepStrictEqual(await lists(), [lines, lines]);
        offered.push(model.requests.at(-1)!.tools.some(({ name }) => name === 'use_skill'));
      }
      deepStrictEqual(offered, [true, true, false]);
    } finally {
      await runtime.close();
      await store.close();
      temp.remove();
    }
  });
});
