import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { instructionsText, readInstructionFiles } from '../../../src/node/memory/instructionFiles';
import { tempFolder } from '../../support/store/storeTemp';

describe('what a workspace wants assistants to heed', () => {
  const temps: { remove(): void }[] = [];
  afterEach(() => {
    for (const temp of temps.splice(0)) temp.remove();
  });
  const folderWith = async (files: Readonly<Record<string, string>>) => {
    const temp = tempFolder();
    temps.push(temp);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(temp.path, path)), { recursive: true });
      await writeFile(join(temp.path, path), text);
    }
    return temp.path;
  };
  const read = async (files: Readonly<Record<string, string>>) => instructionsText(await readInstructionFiles([await folderWith(files)]));

  it('is what its files say, each under its name', async () => {
    assert.equal(await read({}), '');
    assert.equal(await read({ 'AGENTS.md': ' \n' }), '');
    assert.equal(
      await read({
        'AGENTS.md': 'Use tabs.\n',
        'CLAUDE.md': 'Be brief.',
        '.github/copilot-instructions.md': 'Write tests.',
        'README.md': 'no',
      }),
      "From the workspace's AGENTS.md:\nUse tabs.\n\nFrom the workspace's CLAUDE.md:\nBe brief.\n\nFrom the workspace's .github/copilot-instructions.md:\nWrite tests.",
    );
  });

  it('names the files that instructions with a pattern are about', async () => {
    const folder = await folderWith({
      '.github/instructions/b.instructions.md': '---\ndescription: Styles\napplyTo: "**/*.css"\n---\nNo ids.\n',
      '.github/instructions/a.instructions.md': "---\napplyTo: '**'\n---\nSmall commits.",
      '.github/instructions/notes.md': 'no',
    });
    assert.deepEqual(await readInstructionFiles([folder]), [
      {
        path: '.github/instructions/a.instructions.md',
        file: join(folder, '.github/instructions/a.instructions.md'),
        text: 'Small commits.',
        appliesTo: null,
      },
      {
        path: '.github/instructions/b.instructions.md',
        file: join(folder, '.github/instructions/b.instructions.md'),
        text: 'No ids.',
        appliesTo: '**/*.css',
      },
    ]);
    assert.match(
      instructionsText(await readInstructionFiles([folder])),
      /b\.instructions\.md, for files that match \*\*\/\*\.css:\nNo ids\.$/,
    );
  });

  it('holds what is linked or copied once, and nothing that lies outside', async () => {
    const folder = await folderWith({ 'AGENTS.md': 'Use tabs.', '.github/copilot-instructions.md': 'Use tabs.\n' });
    await symlink('AGENTS.md', join(folder, 'CLAUDE.md'));
    assert.equal(instructionsText(await readInstructionFiles([folder])), "From the workspace's AGENTS.md:\nUse tabs.");
    const other = await folderWith({});
    await symlink(join(folder, 'AGENTS.md'), join(other, 'CLAUDE.md'));
    assert.deepEqual(await readInstructionFiles([other]), []);
  });

  it('names the files of folders below, for the model to read', () => {
    assert.equal(
      instructionsText([], ['api/AGENTS.md']),
      'More instructions of the workspace; read those that concern your task first:\n- api/AGENTS.md (for files in api/)',
    );
  });

  it('is cut where it would fill the window, and says so', async () => {
    const text = await read({ 'AGENTS.md': 'rule '.repeat(40_000) });
    assert.ok(text.length < 20_200 && text.endsWith('rule \n[… the rest is in the file …]'), text.slice(-60));
    const many = Object.fromEntries([1, 2, 3, 4].map((n) => [`.github/instructions/${n}.instructions.md`, `${n} rules `.repeat(2_400)]));
    assert.match(await read(many), /read those that concern your task first:\n- \.github\/instructions\/4\.instructions\.md$/);
  });
});
