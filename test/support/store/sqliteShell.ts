import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { waitFor } from '../waitFor';

/** Another program that has a database open and writes to it: the command line of SQLite. */
export class SqliteShell {
  private readonly shell: ChildProcessWithoutNullStreams;
  private output = '';
  private runs = 0;

  constructor(file: string) {
    this.shell = spawn('sqlite3', [file]);
    this.shell.stdout.on('data', (text: Buffer) => (this.output += text.toString()));
  }

  /** Resolves when it is done. */
  async run(sql: string): Promise<void> {
    const mark = `done ${++this.runs}.`;
    this.shell.stdin.write(`${sql}\n.print ${mark}\n`);
    await waitFor(mark, () => this.output.includes(mark));
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.shell.once('exit', resolve));
    this.shell.stdin.end('.quit\n');
    await ended;
  }
}
