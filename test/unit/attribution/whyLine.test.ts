import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limitTexts } from '../../../src/core/attribution/reasonText';
import type { SessionStore } from '../../../src/core/ports';
import type { EntryContent } from '../../../src/core/session/entry';
import { whyLine } from '../../../src/node/attribution/whyLine';
import { KeptFiles } from '../../../src/node/rewind/keptFiles';
import { attribute } from '../../support/attribution/attributedLines';
import { AttributedRepository } from '../../support/attribution/attributedRepository';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';

describe('why a line is there', function () {
  this.timeout(120_000);

  // The figures are those of test/bench/attribution.bench.ts, over more commits and lines.
  it('is known of lines of tools after later commits, and never wrong', async () => {
    const temp = tempFolder();
    const store = await openTestStore(join(temp.path, 'store'));
    try {
      const repository = new AttributedRepository(join(temp.path, 'work'), store, 1);
      await repository.build(10);
      const lines = repository.all().filter(({ owner }, i) => i % (owner === null ? 8 : 3) === 0);
      const found = await attribute(store, repository, lines);
      assert.deepEqual([found.wrong, found.right / found.written >= 0.9, found.written > 5], [[], true, true], found.missed.join('\n'));
    } finally {
      await store.close();
      temp.remove();
    }
  });

  it('tells that older edits were not compared, and that Git was not asked', async () => {
    const temp = tempFolder();
    const store = await openTestStore(join(temp.path, 'store'));
    try {
      mkdirSync(join(temp.path, 'work'));
      const folder = realpathSync(join(temp.path, 'work'));
      const text = 'const harbor = lantern(tide);\n';
      writeFileSync(join(folder, 'a.ts'), text);
      await store.createSession({ uuid: 's', channel: 'cli', cwd: folder, createdAt: 1 });
      for (const [i, after] of [text, 'one\n', 'two\n'].entries()) {
        const content = {
          type: 'tool_call' as const,
          callId: `c${i}`,
          name: 'Edit',
          input: { path: 'a.ts', old_text: '', new_text: after },
        };
        await store.append('s', { entries: [userMessage('s', i === 0 ? null : `e${i - 1}`, '', { uuid: `e${i}`, content })] });
      }
      const asked = { file: join(folder, 'a.ts'), text, line: 0, folder };
      const found = async (edits: number, characters: number) => {
        const reason = await whyLine(store, asked, new AbortController().signal, { bounds: { edits, characters } });
        return [reason.edits.map(({ edit }) => edit.uuid), reason.isCut];
      };
      assert.deepEqual(
        [await found(3, 1_000), await found(2, 1_000), await found(3, 10)],
        [
          [['e0'], false],
          [[], true],
          [[], true],
        ],
      );
    } finally {
      await store.close();
      temp.remove();
    }
    const [noGit, cut] = [limitTexts(true, 'git_failed', false), limitTexts(false, null, true)];
    assert.deepEqual([noGit.length, cut.length, limitTexts(false, 'git_failed', false), limitTexts(true, null, false)], [1, 1, [], []]);
  });

  describe('in a folder of one file', () => {
    let temp: TempFolder;
    let store: SessionStore;
    let folder: string;
    const at = 1_763_800_000_000;
    const line = "const harbor = lantern('tide');";

    beforeEach(async () => {
      temp = tempFolder();
      store = await openTestStore(join(temp.path, 'store'));
      mkdirSync(join(temp.path, 'work'));
      folder = realpathSync(join(temp.path, 'work'));
      await store.createSession({ uuid: 's', channel: 'cli', cwd: folder, createdAt: at });
    });
    afterEach(async () => {
      await store.close();
      temp.remove();
    });

    /** Seconds after the session has begun. */
    const say = async (uuid: string, parent: string | null, seconds: number, content: EntryContent) =>
      store.append('s', { entries: [userMessage('s', parent, '', { uuid, createdAt: at + seconds * 1_000, content })] });
    const edit = (seconds: number) =>
      say('edit', null, seconds, {
        type: 'tool_call',
        callId: 'c',
        name: 'Edit',
        input: { path: 'a.ts', old_text: '', new_text: `${line}\n` },
      });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
    const commit = (seconds: number, text: string) => {
      writeFileSync(join(folder, 'a.ts'), text);
      git('add', '.');
      const date = `${at / 1_000 + seconds} +0000`;
      const names = {
        GIT_AUTHOR_NAME: 'Ada',
        GIT_AUTHOR_EMAIL: 'a@example.com',
        GIT_COMMITTER_NAME: 'Ada',
        GIT_COMMITTER_EMAIL: 'a@example.com',
      };
      const env = { ...process.env, ...names, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
      execFileSync('git', ['commit', '-q', '-m', `at ${seconds}`], { cwd: folder, env });
    };
    const found = async (text: string, index = 0) => {
      const reason = await whyLine(store, { file: join(folder, 'a.ts'), text, line: index, folder }, new AbortController().signal);
      return { edits: reason.edits.map((one) => one.edit.uuid), commit: reason.commit?.summary ?? null, withoutGit: reason.withoutGit };
    };

    it('is known of a command by what was recorded of its files, as far as that was kept', async () => {
      const kept = new KeptFiles(store);
      const version = async (text: string) => kept.keep(Buffer.from(text), 'file');
      const file = { folder: 'work', path: 'a.ts' };
      const lost = { ...(await version(`${line}\n`)), blob: null };
      const changes = [
        [{ ...file, before: await version('one\n'), after: await version(`one\n${line}\n`) }],
        [{ ...file, before: null, after: lost }],
        [{ ...file, before: await version('one\n'), after: null }],
      ];
      for (const [i, files] of changes.entries()) {
        await say(`call${i}`, null, i, { type: 'tool_call', callId: `c${i}`, name: 'run_command', input: { command: 'make' } });
        await say(`mark${i}`, `call${i}`, i, { type: 'file_changes', source: 'tool', files });
      }
      assert.deepEqual(await found(`one\n${line}\n`, 1), { edits: ['call0'], commit: null, withoutGit: 'no_repository' });
    });

    it('is not known of a line that was taken out and put back, unless nobody had committed it before', async () => {
      git('init', '-q');
      commit(0, 'one\n');
      await edit(10);
      commit(20, `${line}\none\n`);
      commit(30, 'two\n');
      commit(40, `${line}\ntwo\n`);
      assert.deepEqual(await found(`${line}\ntwo\n`), { edits: [], commit: 'at 40', withoutGit: null });
      git('checkout', '-q', '--orphan', 'other');
      commit(5, 'one\n');
      commit(30, 'two\n');
      commit(40, `${line}\ntwo\n`);
      assert.deepEqual(await found(`${line}\ntwo\n`), { edits: ['edit'], commit: 'at 40', withoutGit: null });
    });

    it('is known of a line that was only written otherwise since, before that is committed', async () => {
      git('init', '-q');
      commit(0, 'one\n');
      await edit(10);
      commit(20, `one\n${line}\n`);
      assert.deepEqual(await found(`one\n  ${line.replaceAll("'", '"')}\n`, 1), { edits: ['edit'], commit: null, withoutGit: null });
    });

    it('is looked for by its text alone where Git cannot be used', async () => {
      git('init', '-q');
      commit(0, `${line}\n`);
      await edit(10);
      rmSync(join(folder, '.git', 'objects'), { recursive: true });
      assert.deepEqual(await found(`${line}\n`), { edits: ['edit'], commit: null, withoutGit: 'git_failed' });
    });
  });
});
