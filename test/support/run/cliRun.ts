import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { cliArgs } from './runCliToEnd';

export type Line = { readonly type: string } & Readonly<Record<string, unknown>>;

/** `threadkeeper run` as a child process; its events are kept in order and can be waited for. */
export class CliRun {
  readonly lines: Line[] = [];
  stderr = '';
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting: {
    readonly matches: (line: Line) => boolean;
    readonly resolve: (line: Line) => void;
    readonly reject: (error: Error) => void;
  }[] = [];

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [...cliArgs, ...args], { env: { PATH: process.env['PATH'], ...env } });
    this.child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    createInterface({ input: this.child.stdout }).on('line', (text) => this.receive(JSON.parse(text) as Line));
    this.exited = new Promise((resolve) => this.child.on('close', (code) => resolve(code)));
    void this.exited.then((code) => {
      for (const { reject } of this.waiting) reject(new Error(`The program ended with ${code}. ${this.stderr}`));
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  send(command: unknown): void {
    this.child.stdin.write(`${typeof command === 'string' ? command : JSON.stringify(command)}\n`);
  }

  end(): void {
    this.child.stdin.end();
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  /** The first line, past or future, that matches. Rejects when the program ends without it. */
  until(matches: (line: Line) => boolean): Promise<Line> {
    const found = this.lines.find(matches);
    return found ? Promise.resolve(found) : new Promise((resolve, reject) => this.waiting.push({ matches, resolve, reject }));
  }

  done(id: unknown): Promise<Line> {
    return this.until((line) => line.type === 'done' && line['id'] === id);
  }

  of(type: string): Line[] {
    return this.lines.filter((line) => line.type === type);
  }

  private receive(line: Line): void {
    this.lines.push(line);
    for (const waiter of [...this.waiting]) {
      if (!waiter.matches(line)) continue;
      this.waiting.splice(this.waiting.indexOf(waiter), 1);
      waiter.resolve(line);
    }
  }
}
