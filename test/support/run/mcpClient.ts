import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { projectRoot } from '../paths';

interface Answer {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client of the built server that speaks the protocol by hand: one JSON-RPC message a line. */
export class McpClient {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private next = 1;
  /** Lines on standard output that are no message. */
  readonly noise: string[] = [];
  errors = '';

  /** `threadkeeper mcp` as it is built here. */
  static of(...args: readonly string[]): McpClient {
    return new McpClient(process.execPath, [join(projectRoot, 'dist', 'cli.js'), 'mcp', ...args], {});
  }

  /** As a program starts it whose settings say so. */
  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(command, args, { env: { ...process.env, NODE_OPTIONS: '', ...env } });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
    createInterface({ input: this.child.stdout }).on('line', (line) => this.receive(line));
    this.child.once('exit', (code) => {
      for (const answer of this.waiting.values()) answer({ error: { code: code ?? -1, message: `the server ended: ${this.errors}` } });
    });
  }

  /** The handshake of the revision that most agents speak. */
  async initialize(): Promise<Record<string, unknown>> {
    const result = await this.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return result;
  }

  async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = this.next++;
    const answer = new Promise<Answer>((resolve) => this.waiting.set(id, resolve));
    this.send({ jsonrpc: '2.0', id, method, params });
    const { result, error } = await answer;
    if (error) throw new Error(`${error.code}: ${error.message}`);
    return result ?? {};
  }

  /** What a tool answers, and whether it is an error. */
  async call(name: string, args: object = {}): Promise<{ readonly text: string; readonly isError: boolean }> {
    const { content, isError } = await this.ask('tools/call', { name, arguments: args });
    const texts = (content as readonly { readonly type: string; readonly text: string }[]).map(({ text }) => text);
    return { text: texts.join('\n'), isError: isError === true };
  }

  /** Resolves with the exit code. */
  async close(): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    const exited = once(this.child, 'exit');
    this.child.stdin.end();
    const [code] = (await exited) as [number | null];
    return code;
  }

  private send(message: object): void {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  private receive(line: string): void {
    try {
      const answer = JSON.parse(line) as Answer;
      if (answer.id !== undefined) this.waiting.get(answer.id)?.(answer);
    } catch {
      this.noise.push(line);
    }
  }
}
