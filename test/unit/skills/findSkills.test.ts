import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { skillList } from '../../../src/core/skills/skill';
import { findSkills, parseSkill } from '../../../src/node/skills/findSkills';
import { Recorder } from '../models/subjects';

const skill = (description: string, text = 'Do it well.', name?: string) =>
  `---\n${name ? `name: ${name}\n` : ''}description: ${description}\n---\n${text}\n`;

describe('skills', () => {
  const log = new Recorder();
  let temp: string;
  let home: string;
  let root: string;
  beforeEach(async () => {
    temp = await mkdtemp(join(tmpdir(), 'threadkeeper-skills-'));
    [home, root] = [join(temp, 'home'), join(temp, 'work')];
    await mkdir(home);
    await mkdir(root);
    log.lines.length = 0;
  });
  afterEach(() => rm(temp, { recursive: true, force: true }));

  async function write(path: string, text: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  const folders = ['~/.threadkeeper/skills', '.threadkeeper/skills', '.claude/skills'];
  const find = (workspace: readonly string[] = [root]) => findSkills({ folders, workspace, home }, log.logger);

  it('are Markdown files and folders with a SKILL.md, of the user and of the workspace, by name', async () => {
    await write(join(home, '.threadkeeper/skills/tides.md'), skill('Reads tide tables.'));
    await write(join(root, '.claude/skills/release/SKILL.md'), skill('Makes a release.', 'Tag it.', 'make-release'));
    await write(join(root, '.claude/skills/release/notes.md'), skill('Not a skill.'));
    await write(join(root, '.threadkeeper/skills/plain.txt'), skill('Not a skill.'));
    const found = await find();
    assert.deepEqual(
      found.map(({ name, description, path }) => [name, description, path]),
      [
        ['make-release', 'Makes a release.', '.claude/skills/release/SKILL.md'],
        ['tides', 'Reads tide tables.', join('~/.threadkeeper/skills', 'tides.md')],
      ],
    );
    assert.equal((await found[0]!.text())?.trim(), 'Tag it.');
    assert.match(skillList(found), /use_skill[\s\S]*\n- make-release: Makes a release\.\n- tides: Reads tide tables\.$/);
    assert.equal(skillList([]), '');
  });

  it('are the user’s alone where the workspace may give none', async () => {
    await write(join(home, '.threadkeeper/skills/own.md'), skill('Own.'));
    await write(join(root, '.threadkeeper/skills/other.md'), skill('Other.'));
    assert.deepEqual(
      (await find([])).map(({ name }) => name),
      ['own'],
    );
  });

  it('of a workspace do not take the place of the user’s', async () => {
    await write(join(root, '.threadkeeper/skills/tides.md'), skill('From the workspace.'));
    await write(join(home, '.threadkeeper/skills/tides.md'), skill('The own one.'));
    assert.deepEqual(
      (await find()).map(({ description }) => description),
      ['The own one.'],
    );
  });

  it('are read as they are when they are asked for, and not when they are gone', async () => {
    const file = join(root, '.claude/skills/a.md');
    await write(file, skill('A.', 'Before.'));
    const [found] = await find();
    await write(file, skill('A.', 'After.'));
    assert.equal((await found!.text())?.trim(), 'After.');
    await rm(file);
    assert.equal(await found!.text(), undefined);
  });

  it('outside of the workspace are not read, by a link or a path', async function () {
    if (process.platform === 'win32') return this.skip();
    await write(join(temp, 'outside/SKILL.md'), skill('Outside.'));
    await write(join(root, '.claude/skills/inside.md'), skill('Inside.'));
    await symlink(join(temp, 'outside'), join(root, '.claude/skills/linked'));
    await symlink(join(temp, 'outside/SKILL.md'), join(root, '.claude/skills/file.md'));
    assert.deepEqual(
      (await find()).map(({ name }) => name),
      ['inside'],
    );
    assert.deepEqual(
      (await findSkills({ folders: ['../outside'], workspace: [root], home }, log.logger)).map(({ name }) => name),
      [],
    );
  });

  it('are as many as a request can list, and those without a description are named in the log', async () => {
    for (let i = 0; i < 60; i++)
      await write(join(root, `.claude/skills/s${String(i).padStart(2, '0')}.md`), skill(`Number ${i}. ${'very '.repeat(200)}`));
    await write(join(root, '.claude/skills/a.md'), '# No front matter');
    const found = await find();
    assert.equal(found.length, 50);
    assert.ok(skillList(found).length < 50 * 330);
    assert.deepEqual(log.lines, [{ event: 'skill_without_description', data: { path: '.claude/skills/a.md' } }]);
  });

  it('say their name and description as people write them', () => {
    const read = (head: string) => {
      const parsed = parseSkill(`---\n${head}\n---\nText`, '/skills/pdf/SKILL.md');
      return parsed && [parsed.name, parsed.description];
    };
    assert.deepEqual(read('description: Use when: a PDF is asked for'), ['pdf', 'Use when: a PDF is asked for']);
    assert.deepEqual(read("name: \"read-pdf\"\ndescription: 'It''s for PDFs'\nlicence: MIT"), ['read-pdf', "It's for PDFs"]);
    assert.deepEqual(read('name: pdf\ndescription: >-\n  Reads\n  PDFs.\nallowed-tools:\n  - Read'), ['pdf', 'Reads PDFs.']);
    assert.deepEqual(read('description: one\r\n  two\u0007three'), ['pdf', 'one two three']);
    assert.equal(read('name: pdf'), undefined);
    assert.equal(parseSkill('No head.', '/skills/a.md'), undefined);
  });
});
