import { deepStrictEqual, ok } from 'node:assert';
import { contentHash } from '../../../src/node/rewind/packedContent';
import type { FileEdit, FileVersion } from '../../../src/core/rewind/fileChanges';
import { FileHistory, type FileMark, type FileWay } from '../../../src/core/rewind/fileHistory';
import { planRestore, type FilePlan } from '../../../src/core/rewind/planRestore';
import { enduranceRounds, seededRandom } from '../../support/chat/endurance';

const seeds = enduranceRounds(1_000);
const paths = ['a.txt', 'b.txt', 'c/d.txt', 'e.bin'];

interface Entry {
  readonly uuid: string;
  readonly seq: number;
  readonly parent: string | null;
  /** What calls and restores had made of the files when it was said, as the model has it. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * A person, a model and a file system. The model of it knows for each message what calls had made of each file by then, and which lines
 * the person has written; it does not know how a restore works.
 */
class World {
  readonly disk = new Map<string, string>();
  private readonly blobs = new Map<string, string>();
  private readonly marks: FileMark[] = [];
  private readonly entries = new Map<string, Entry>();
  /** Paths that the person has touched: what they hold is no longer the model's to predict. */
  private readonly touched = new Set<string>();
  /** Lines that the person has written and not removed, by path. */
  readonly mine = new Map<string, Set<string>>();
  /** What calls alone would have made of each file, on the way that the files stand at. */
  private predicted = new Map<string, string>();
  private leaf: string | null = null;
  private seq = 0;
  private lines = 0;
  restores = 0;
  questions = 0;
  merges = 0;

  constructor(private readonly random: () => number) {}

  async step(): Promise<void> {
    const roll = this.random();
    if (roll < 0.35) this.call();
    else if (roll < 0.5) this.edit();
    else if (roll < 0.6) this.say();
    else await this.go(roll);
  }

  private say(): string {
    const uuid = `e${++this.seq}`;
    this.entries.set(uuid, { uuid, seq: this.seq, parent: this.leaf, files: new Map(this.predicted) });
    return (this.leaf = uuid);
  }

  /** An edit, or a command that changes several files: what stood there is what is on disk. */
  private call(): void {
    const on = this.say();
    const files: FileEdit[] = [];
    const count = this.random() < 0.7 ? 1 : 3;
    for (let n = 0; n < count; n++) {
      const path = this.pick(paths);
      if (files.some((file) => file.path === path)) continue;
      const before = this.disk.get(path);
      const after = this.random() < 0.15 && before !== undefined ? undefined : this.changed(path, before, `call ${++this.lines}`);
      if (after === before) continue;
      this.set(path, after);
      if (this.touched.has(path)) this.predicted.delete(path);
      else if (after === undefined) this.predicted.delete(path);
      else this.predicted.set(path, after);
      // A command may well remove what the person wrote; then it is recorded, and theirs is in what stood there before.
      for (const line of this.mine.get(path) ?? []) if (!after?.includes(`${line}\n`)) this.mine.get(path)!.delete(line);
      files.push({ folder: 'w', path, before: this.version(before), after: this.version(after) });
    }
    if (files.length > 0) this.mark(on, { type: 'file_changes', source: 'tool', files });
  }

  private edit(): void {
    const path = this.pick(paths);
    const before = this.disk.get(path);
    this.touched.add(path);
    this.predicted.delete(path);
    if (before !== undefined && this.random() < 0.15) {
      this.set(path, undefined);
      this.mine.delete(path);
      return;
    }
    const line = `mine ${++this.lines}`;
    this.set(path, this.changed(path, before, line));
    const mine = this.mine.get(path) ?? new Set();
    this.mine.set(path, mine.add(line));
    for (const one of mine) if (!this.disk.get(path)!.includes(`${one}\n`)) mine.delete(one);
  }

  /** Back to a message, with or without the conversation, to another branch, or back from a restore. */
  private async go(roll: number): Promise<void> {
    const history = new FileHistory(this.marks);
    const all = [...this.entries.values()];
    if (all.length === 0) return;
    if (roll > 0.95) {
      const last = history.lastRestore;
      if (!last) return;
      const { ways, to } = history.undo(last);
      await this.restore(ways, to, this.leaf === null ? null : true, last.on);
      this.predicted = new Map([...this.disk].filter(([path]) => !this.touched.has(path)));
      return;
    }
    // A branch switch goes to the end of any branch; a restore to a message of this one.
    const isSwitch = roll > 0.8;
    const leaf = isSwitch ? this.pick(all).uuid : this.leaf;
    const branch = this.branch(leaf);
    if (!isSwitch && branch.length === 0) return;
    const target = isSwitch ? null : this.pick(branch).uuid;
    const to =
      target === null ? (leaf === null ? null : history.atEnd(this.entries.get(leaf)!)) : history.before(this.entries.get(target)!);
    const parent = target === null ? leaf : this.entries.get(target)!.parent;
    const isAlone = !isSwitch && this.leaf !== null && this.random() < 0.4;
    const wanted = target === null ? null : this.entries.get(target)!;
    await this.restore(history.ways(history.now, to), to, isAlone ? true : null, leaf);
    if (!isAlone) this.leaf = parent;
    if (wanted)
      for (const path of paths) {
        if (this.touched.has(path)) continue;
        deepStrictEqual(this.disk.get(path), wanted.files.get(path), `${path} at ${wanted.uuid}`);
      }
    this.predicted = new Map([...this.disk].filter(([path]) => !this.touched.has(path)));
  }

  private async restore(ways: readonly FileWay[], to: string | null, alone: true | null, other: string | null): Promise<void> {
    const plans = await planRestore(ways, {
      current: async ({ path }) => ({ version: this.version(this.disk.get(path)) }),
      read: async ({ path }) => Buffer.from(this.disk.get(path)!),
      kept: async ({ blob }) => Buffer.from(this.blobs.get(blob!)!),
      hash: contentHash,
    });
    this.restores++;
    const files: FileEdit[] = [];
    for (const plan of plans) {
      ok(plan.action !== 'blocked');
      if (plan.action === 'ask') {
        this.questions++;
        ok(this.touched.has(plan.path), `nobody but calls has touched ${plan.path}, and yet somebody is asked`);
        continue;
      }
      const before = this.disk.get(plan.path);
      const after = this.contentOf(plan);
      if (plan.isMerged) this.merges++;
      this.set(plan.path, after);
      for (const line of this.mine.get(plan.path) ?? [])
        ok(after?.includes(`${line}\n`) || this.isKept(plan.path, line), `${line} is lost from ${plan.path}`);
      files.push({ folder: 'w', path: plan.path, before: this.version(before), after: this.version(after) });
    }
    const on = this.leaf ?? other;
    if (on !== null) this.mark(on, { type: 'file_changes', source: 'restore', files, restoredTo: to, ...(alone ? { alone } : {}) });
    // From here on a file whose lines were in a recorded state and went with it may come back with that state.
    for (const [path, lines] of this.mine) for (const line of lines) if (!this.disk.get(path)?.includes(`${line}\n`)) lines.delete(line);
  }

  /** Whether a person's line was part of what a call has found and left, and so goes and comes with that. */
  private isKept(path: string, line: string): boolean {
    return this.marks.some(({ content }) =>
      content.files.some((file) => file.path === path && file.before !== null && this.blobs.get(file.before.blob!)!.includes(`${line}\n`)),
    );
  }

  private contentOf({ to }: FilePlan): string | undefined {
    if (to === null) return undefined;
    return 'merged' in to.content ? Buffer.from(to.content.merged).toString() : this.blobs.get(to.content.blob);
  }

  private changed(path: string, before: string | undefined, line: string): string {
    if (before === undefined) return `${Array.from({ length: 12 }, (_, i) => `${path} line ${i}`).join('\n')}\n${line}\n`;
    if (path.endsWith('.bin')) return `\0${line}\n`;
    const lines = before.split('\n').slice(0, -1);
    const at = Math.floor(this.random() * (lines.length + 1));
    // Only what the person has not written is replaced.
    const isReplaced = this.random() < 0.5 && at < lines.length && !lines[at]!.startsWith('mine');
    lines.splice(at, isReplaced ? 1 : 0, line);
    return `${lines.join('\n')}\n`;
  }

  private branch(leaf: string | null): Entry[] {
    const found: Entry[] = [];
    for (let at = leaf; at !== null; at = this.entries.get(at)!.parent) found.unshift(this.entries.get(at)!);
    return found;
  }

  private mark(on: string, content: FileMark['content']): void {
    this.marks.push({ uuid: `m${++this.seq}`, seq: this.seq, on, content });
  }

  private version(content: string | undefined): FileVersion | null {
    if (content === undefined) return null;
    const bytes = Buffer.from(content);
    const hash = contentHash(bytes);
    this.blobs.set(hash, content);
    return { hash, bytes: bytes.length, kind: 'file', blob: hash };
  }

  private set(path: string, content: string | undefined): void {
    if (content === undefined) this.disk.delete(path);
    else this.disk.set(path, content);
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }
}

describe('rewind: random sessions against a model of a file system', () => {
  it(`finds each file as calls had left it, and loses no line of a person's, ${seeds} times`, async function () {
    this.timeout(120_000);
    const sums = { restores: 0, questions: 0, merges: 0 };
    for (let seed = 0; seed < seeds; seed++) {
      const world = new World(seededRandom(seed + 1));
      try {
        for (let n = 0; n < 40; n++) await world.step();
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
      sums.restores += world.restores;
      sums.questions += world.questions;
      sums.merges += world.merges;
    }
    console.log(`      ${JSON.stringify(sums)}`);
    ok(sums.restores > seeds * 5 && sums.merges > seeds / 2 && sums.questions > seeds / 10, JSON.stringify(sums));
  });
});
