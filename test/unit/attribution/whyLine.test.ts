import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limitTexts } from '../../../src/core/attribution/reasonText';
import { whyLine } from '../../../src/node/attribution/whyLine';
import { attribute } from '../../support/attribution/attributedLines';
import { AttributedRepository } from '../../support/attribution/attributedRepository';
import { openTestStore, tempFolder, userMessage } from '../../support/store/storeTemp';

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
});
