import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtTests } from '../paths';
import type { WindowReport } from './windowChild';

/** A process that owns the store of a folder, or shares it with the one that does, and holds a turn whenever it is told to. */
export class WindowProcess {
  readonly entries: string[] = [];
  readonly failures: string[] = [];
  private readonly child: ChildProcessWithoutNullStreams;
  private waiting: ((report: WindowReport) => void)[] = [];

  private constructor(folder: string) {
    this.child = spawn(process.execPath, [join(builtTests, 'support', 'agents', 'windowChild.js'), folder]);
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => this.failures.push(text));
    this.child.once('exit', (code) => {
      if (code !== 0) this.failures.push(`it ended with ${code}`);
      for (const resolve of this.waiting.splice(0)) resolve({ type: 'failed', reason: `it ended with ${code}` });
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const report = JSON.parse(line) as WindowReport;
      if (report.type === 'turn') this.entries.push(...report.entries);
      if (report.type === 'failed') this.failures.push(report.reason);
      this.waiting.shift()?.(report);
    });
  }

  static async open(folder: string): Promise<WindowProcess> {
    const window = new WindowProcess(folder);
    await window.next();
    return window;
  }

  /** Resolves with what the turn took, in milliseconds; rejects when the window has ended. */
  async turn(): Promise<number> {
    const reported = this.next();
    this.child.stdin.write('.');
    const report = await reported;
    if (report.type !== 'turn') throw new Error(this.failures.join('\n'));
    return report.ms;
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.child.once('close', () => resolve()));
    this.child.stdin.end();
    await ended;
  }

  private next(): Promise<WindowReport> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
