import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

interface Question {
  readonly resolve: (text: string | null) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

type Batch = ChildProcessByStdio<Writable, Readable, null>;

/** Files of commits, told by one `git cat-file --batch`: to start a program for each of them takes longer than all of the rest. */
export class GitContents {
  private child: Batch | null = null;
  private readonly waiting: Question[] = [];
  private chunks: Buffer[] = [];
  private size = 0;
  /** Bytes of the content that is being read, with the line break behind it; null: its head is. */
  private wanted: { readonly bytes: number; readonly isBlob: boolean } | null = null;

  constructor(
    private readonly start: () => Batch,
    private readonly mostBytes: number,
    private readonly timeLimitMs: number,
  ) {}

  /** The text of a file of a commit; null: there is none. Rejects when Git cannot tell, in time or at all. */
  text(commit: string, path: string): Promise<string | null> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.fail(new Error('git cat-file took too long')), this.timeLimitMs);
      this.waiting.push({ resolve, reject, timer });
      this.child ??= this.begin();
      this.child.stdin.write(`${commit}:${path}\n`);
    });
  }

  close(): void {
    this.fail(new Error('Git is no longer asked'));
  }

  private begin(): Batch {
    const child = this.start();
    child.stdout.on('data', (data: Buffer) => {
      if (child !== this.child) return;
      this.chunks.push(data);
      this.size += data.length;
      while (this.take());
    });
    child.stdin.on('error', () => {});
    child.once('error', (error) => child === this.child && this.fail(error));
    child.once('close', () => child === this.child && this.fail(new Error('git cat-file has ended')));
    return child;
  }

  /** Whether there was a head, or the rest of an answer, in what has come. */
  private take(): boolean {
    if (this.wanted && this.size < this.wanted.bytes) return false;
    if (this.size === 0) return false;
    const data = Buffer.concat(this.chunks);
    if (this.wanted) {
      const { bytes, isBlob } = this.wanted;
      this.wanted = null;
      this.keep(data.subarray(bytes));
      this.answer(isBlob ? data.subarray(0, bytes - 1).toString('utf8') : null);
      return true;
    }
    const end = data.indexOf(10);
    this.keep(end < 0 ? data : data.subarray(end + 1));
    if (end < 0) return false;
    const [, type, bytes] = /^[0-9a-f]{40,64} (\w+) (\d+)$/.exec(data.subarray(0, end).toString('utf8')) ?? [];
    if (bytes === undefined) this.answer(null);
    else if (Number(bytes) > this.mostBytes) this.fail(new Error('This file is too large'));
    else this.wanted = { bytes: Number(bytes) + 1, isBlob: type === 'blob' };
    return true;
  }

  private keep(rest: Buffer): void {
    this.chunks = [rest];
    this.size = rest.length;
  }

  private answer(text: string | null): void {
    const question = this.waiting.shift();
    if (!question) return;
    clearTimeout(question.timer);
    question.resolve(text);
  }

  private fail(error: Error): void {
    this.child?.kill();
    this.child = null;
    this.wanted = null;
    this.keep(Buffer.alloc(0));
    for (const { reject, timer } of this.waiting.splice(0)) {
      clearTimeout(timer);
      reject(error);
    }
  }
}
