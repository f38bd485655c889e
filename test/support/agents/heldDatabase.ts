import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { waitFor } from '../waitFor';

/** A database that another process has open, with whatever locks its statements take. */
export class HeldDatabase {
  private out = '';
  private err = '';
  private count = 0;

  private constructor(private readonly child: ChildProcessWithoutNullStreams) {
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
  }

  static open(file: string): HeldDatabase {
    return new HeldDatabase(spawn('sqlite3', [file]));
  }

  /** Resolves when the statements have been run. Rejects with what is wrong with them. */
  async run(sql: string): Promise<void> {
    const done = `done ${++this.count}`;
    this.child.stdin.write(`${sql}\nSELECT '${done}';\n`);
    await waitFor(done, () => this.out.includes(`${done}\n`) || this.err !== '');
    if (this.err !== '') throw new Error(this.err);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin.end();
    await ended;
  }
}
