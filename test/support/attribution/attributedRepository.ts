import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import type { EntryContent, NewEntry } from '../../../src/core/session/entry';
import { userMessage } from '../store/storeTemp';

/** A line, and the call that wrote it; null: a person did. */
interface OwnedLine {
  text: string;
  owner: string | null;
}

export interface LineToAsk {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly owner: string | null;
}

const start = Date.UTC(2026, 0, 5, 9);
const minute = 60_000;
const words = 'tide harbor lantern copper willow meadow signal anchor pebble marble ferry quarry saddle thimble velvet walnut'.split(' ');

/**
 * A repository in which tools of several programs and people have written, by turns, for so many commits: lines that are the same, moves,
 * renames, other indentation, other quotes, wrapped lines, calls that failed. It knows of every line whose it is.
 */
export class AttributedRepository {
  readonly folder: string;
  private readonly files = new Map<string, OwnedLine[]>();
  private now = start;
  private count = 0;
  private parent: string | null = null;
  private readonly random: () => number;

  constructor(
    folder: string,
    private readonly store: SessionStore,
    seed: number,
  ) {
    mkdirSync(folder, { recursive: true });
    this.folder = realpathSync(folder);
    let state = seed * 7_919 + 17;
    this.random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
    this.git('init', '-q', '-b', 'main');
  }

  /** Tools write in the first commits; then come `later` of people and of other calls. */
  async build(later: number, written = 6): Promise<void> {
    await this.store.createSession({ uuid: 'made', key: 'import:claude-code:made', channel: 'import', cwd: this.folder, createdAt: start });
    for (const path of ['src/first.ts', 'src/second.ts']) this.files.set(path, this.lines(50, null));
    this.commit('begin');
    for (let i = 0; i < written; i++) {
      await this.toolEdit(i);
      if (this.chance(0.5)) this.personEdit();
      if (this.chance(0.3)) await this.failedEdit();
      if (this.chance(0.7)) this.commit(`written ${i}`);
    }
    this.commit('written');
    for (let i = 0; i < later; i++) {
      this.change(i);
      if (i % 7 === 3) await this.toolEdit(i);
      this.commit(`later ${i}`);
    }
  }

  /** Every line that is there now. */
  all(): LineToAsk[] {
    return [...this.files].flatMap(([path, lines]) =>
      lines.map(({ owner }, line) => ({ file: join(this.folder, path), line, text: textOf(lines), owner })),
    );
  }

  private change(i: number): void {
    const kinds = [
      () => this.personEdit(),
      () => this.personEdit(),
      () => this.each((text) => `  ${text}`),
      () => this.each((text) => text.replace(/^ {2}/, '')),
      () => this.each((text) => text.replaceAll("'", '"')),
      () => this.each((text) => text.replaceAll('"', "'")),
      () => this.wrap(),
      () => this.moveWithin(),
      () => this.moveAcross(),
      () => this.rename(i),
      () => this.remove(),
    ];
    kinds[Math.floor(this.random() * kinds.length)]!();
  }

  /** A block of new lines, or one line in the place of another, in the form of one of the programs. */
  private async toolEdit(i: number): Promise<void> {
    const [path, lines] = this.pick();
    const uuid = `call${++this.count}`;
    const at = Math.floor(this.random() * lines.length);
    const replaced = this.chance(0.4) ? 1 : 0;
    const added = this.lines(this.chance(0.3) ? 1 : 2 + Math.floor(this.random() * 14), uuid);
    const [from, to] = [Math.max(0, at - 2), Math.min(lines.length, at + replaced + 1)];
    const old = lines.slice(from, to);
    const next = [...lines.slice(from, at), ...added, ...lines.slice(at + replaced, to)];
    const whole = join(this.folder, path);
    const forms: EntryContent[] = [
      call('Edit', { file_path: whole, old_string: textOf(old), new_string: textOf(next) }),
      call('MultiEdit', { file_path: whole, edits: [{ old_string: textOf(old), new_string: textOf(next) }] }),
      call('edit_file', { path, old_text: textOf(old), new_text: textOf(next) }),
      call('replace', { file_path: whole, old_string: textOf(old), new_string: textOf(next), instruction: 'x' }),
      call('apply_patch', { input: patchOf(path, lines, from, at, replaced, added, to) }),
      {
        type: 'message',
        role: 'assistant',
        text: `${path}\n\`\`\`ts\n<<<<<<< SEARCH\n${textOf(old)}=======\n${textOf(next)}>>>>>>> REPLACE\n\`\`\``,
      },
    ];
    const isNew = i > 0 && this.chance(0.15);
    if (isNew) {
      const created = `src/made${this.count}.ts`;
      const content = this.lines(20, uuid);
      this.files.set(created, content);
      await this.say(uuid, call('Write', { file_path: join(this.folder, created), content: textOf(content) }));
    } else {
      lines.splice(at, replaced, ...added);
      await this.say(uuid, forms[Math.floor(this.random() * forms.length)]!);
    }
  }

  private async failedEdit(): Promise<void> {
    const [path] = this.pick();
    const added = this.lines(3, null);
    const uuid = `call${++this.count}`;
    const content = call('Edit', { file_path: join(this.folder, path), old_string: '', new_string: textOf(added) });
    await this.say(uuid, content, 'error');
    // A person writes it then.
    this.files.get(path)!.push(...added);
  }

  private personEdit(): void {
    const [, lines] = this.pick();
    const at = Math.floor(this.random() * lines.length);
    const known = lines[Math.floor(this.random() * lines.length)];
    // Sometimes what stands elsewhere already, said once more.
    const added = this.chance(0.15) && known ? [{ text: known.text, owner: null }] : this.lines(1 + Math.floor(this.random() * 4), null);
    lines.splice(at, this.chance(0.5) ? 1 : 0, ...added);
  }

  private each(make: (text: string) => string): void {
    for (const line of this.pick()[1]) if (line.text !== '') line.text = make(line.text);
  }

  private wrap(): void {
    const [, lines] = this.pick();
    const at = lines.findIndex(({ text }) => /\(\w+, \w+\);$/.test(text));
    const found = lines[at];
    if (!found) return;
    const [, head, one, other] = /^(.*\()(\w+), (\w+)\);$/.exec(found.text)!;
    const parts = [head!, `  ${one},`, `  ${other},`, ');'].map((text) => ({ text, owner: found.owner }));
    lines.splice(at, 1, ...parts);
  }

  private moveWithin(): void {
    const [, lines] = this.pick();
    if (lines.length < 16) return;
    const moved = lines.splice(Math.floor(this.random() * (lines.length - 8)), 6);
    lines.splice(Math.floor(this.random() * lines.length), 0, ...moved);
  }

  private moveAcross(): void {
    const [[, from], [, to]] = [this.pick(), this.pick()];
    if (from === to || from.length < 20) return;
    to.splice(Math.floor(this.random() * to.length), 0, ...from.splice(Math.floor(this.random() * (from.length - 8)), 8));
  }

  private rename(i: number): void {
    const [path, lines] = this.pick();
    const next = `src/part${i}/${path.split('/').at(-1)}`;
    if (this.files.has(next)) return;
    this.files.delete(path);
    this.files.set(next, lines);
    mkdirSync(join(this.folder, dirname(next)), { recursive: true });
    renameSync(join(this.folder, path), join(this.folder, next));
  }

  private remove(): void {
    const [, lines] = this.pick();
    if (lines.length > 10) lines.splice(Math.floor(this.random() * lines.length), 1);
  }

  private commit(summary: string): void {
    for (const [path, lines] of this.files) {
      mkdirSync(join(this.folder, dirname(path)), { recursive: true });
      writeFileSync(join(this.folder, path), textOf(lines));
    }
    this.now += 5 * minute;
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', summary);
    this.now += 30 * minute;
  }

  private async say(uuid: string, content: EntryContent, status: 'ok' | 'error' = 'ok'): Promise<void> {
    const entry = (id: string, parent: string | null, said: EntryContent): NewEntry => ({
      ...userMessage('made', parent, '', { uuid: id, createdAt: (this.now += minute) }),
      content: said,
    });
    const asked = entry(`asked-${uuid}`, this.parent, { type: 'message', role: 'user', text: `Please do ${uuid}` });
    const done = entry(uuid, asked.uuid, content.type === 'tool_call' ? { ...content, callId: uuid } : content);
    const result: EntryContent = { type: 'tool_result', callId: uuid, name: 'edit', text: 'done', status };
    const after = content.type === 'tool_call' ? [entry(`result-${uuid}`, uuid, result)] : [];
    const answer = entry(`answer-${uuid}`, (after[0] ?? done).uuid, { type: 'message', role: 'assistant', text: `Did ${uuid}` });
    await this.store.append('made', { entries: [asked, done, ...after, answer] });
    this.parent = answer.uuid;
  }

  private lines(count: number, owner: string | null): OwnedLine[] {
    return Array.from({ length: count }, () => ({ text: this.line(), owner }));
  }

  private line(): string {
    const word = () => words[Math.floor(this.random() * words.length)]!;
    const n = Math.floor(this.random() * 1_000);
    const telling = [
      () => `const ${word()}${n} = ${word()}('${word()}', ${n});`,
      () => `${word()}.${word()}${n}(${word()}, ${word()}${n});`,
      () => `// The ${word()} of the ${word()} is ${n} ${word()}s.`,
      () => `if (${word()}${n} > ${word()}) {`,
      () => `return ${word()}${n};`,
    ];
    const repeated = ['}', 'return null;', '', '});'];
    // In code, a fifth of the lines says what others say as well.
    return this.chance(0.2) ? repeated[Math.floor(this.random() * 4)]! : telling[Math.floor(this.random() * 5)]!();
  }

  private pick(): readonly [string, OwnedLine[]] {
    const all = [...this.files];
    return all[Math.floor(this.random() * all.length)]!;
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private git(...args: readonly string[]): void {
    const date = `${Math.floor(this.now / 1000)} +0000`;
    const who = { GIT_AUTHOR_NAME: 'Mira', GIT_AUTHOR_EMAIL: 'm@x', GIT_COMMITTER_NAME: 'Mira', GIT_COMMITTER_EMAIL: 'm@x' };
    execFileSync('git', ['-c', 'core.autocrlf=false', '-c', 'commit.gpgsign=false', ...args], {
      cwd: this.folder,
      env: { ...process.env, ...who, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, GIT_CONFIG_NOSYSTEM: '1' },
    });
  }
}

function call(name: string, input: unknown): EntryContent {
  return { type: 'tool_call', callId: '', name, input };
}

function textOf(lines: readonly OwnedLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}

function patchOf(
  path: string,
  lines: readonly OwnedLine[],
  from: number,
  at: number,
  replaced: number,
  added: readonly OwnedLine[],
  to: number,
): string {
  const marked = (mark: string, some: readonly OwnedLine[]) => some.map(({ text }) => `${mark}${text}`);
  return [
    '*** Begin Patch',
    `*** Update File: ${path}`,
    '@@',
    ...marked(' ', lines.slice(from, at)),
    ...marked('-', lines.slice(at, at + replaced)),
    ...marked('+', added),
    ...marked(' ', lines.slice(at + replaced, to)),
    '*** End Patch',
  ].join('\n');
}
