import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliRun, type Line } from '../../support/run/cliRun';
import { MessagesApi, type Responder } from '../../support/messagesApi/messagesApi';
import { defaultReply, type Asked } from '../../support/messagesApi/messagesApiDefault';
import { after, delay, reply, type Script } from '../../support/messagesApi/messagesApiScript';
import { costOf, sumOf } from './callSum';

export interface BenchRow {
  readonly row: string;
  readonly measured: string;
  readonly target: string;
  readonly ok: boolean;
  /** Below the table, in sentences. */
  readonly note?: string;
}

export const benchModel = 'claude-bench';
/** The window of the measurement that the targets come from. */
export const benchWindow = 100_000;

/** One conversation through the command line against a strict Messages API, with everything that was sent. */
export class Driver {
  private nextId = 1;

  private constructor(
    readonly folder: string,
    readonly api: MessagesApi,
    private args: readonly string[],
    public run: CliRun,
  ) {}

  static async start(
    options: { readonly respond?: Responder; readonly args?: readonly string[]; readonly window?: number } = {},
  ): Promise<Driver> {
    const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-bench-'));
    const api = await MessagesApi.start();
    api.setModel(benchModel, { window: options.window ?? benchWindow, maxOutput: 8_000, minCacheTokens: 1_024 });
    if (options.respond) api.respond = options.respond;
    const args = ['run', '--store', folder, '--base-url', api.url, '--model', benchModel, ...(options.args ?? [])];
    const run = new CliRun(args, { ANTHROPIC_API_KEY: api.apiKey });
    await run.until(({ type }) => type === 'ready');
    return new Driver(folder, api, args, run);
  }

  /** Sends a message and waits for the end of its turn, and then as long as a person would who reads while a summary is written. */
  async turn(text: string): Promise<Line> {
    const id = this.nextId++;
    this.run.send({ cmd: 'send', id, text });
    const done = await this.run.done(id);
    await this.quiet();
    return done;
  }

  /** Sends without waiting; the id of the turn. */
  begin(text: string): number {
    const id = this.nextId++;
    this.run.send({ cmd: 'send', id, text });
    return id;
  }

  /** Kills the program as a power switch would, and opens the same session in a new one. */
  async killAndResume(): Promise<void> {
    const ready = this.run.of('ready')[0]!;
    this.run.kill();
    await this.run.exited;
    this.run = new CliRun([...this.args, '--session', String(ready['uuid'])], { ANTHROPIC_API_KEY: this.api.apiKey });
    await this.run.until(({ type }) => type === 'ready');
  }

  /** Prompt tokens of all accepted requests, and what they cost. */
  sent(): { readonly prompt: number; readonly cost: number; readonly cachedShare: number } {
    const sum = sumOf(this.api.messages);
    const prompt = sum.fresh + sum.written + sum.read;
    return { prompt, cost: costOf(sum), cachedShare: sum.read / prompt };
  }

  /**
   * Of the prompt tokens of all turns, the share that was either new or read from the cache: what is missing had been sent before
   * and had to be sent again, because something in front of it had changed.
   */
  stableShare(): number {
    let [total, again, before] = [0, 0, 0];
    for (const { body, usage } of this.api.messages) {
      if (!isTurn(body) || !usage) continue;
      const unread = usage.input_tokens + usage.cache_creation_input_tokens;
      const prompt = unread + usage.cache_read_input_tokens;
      again += Math.max(0, unread - Math.max(0, prompt - before));
      total += prompt;
      before = prompt;
    }
    return 1 - again / total;
  }

  /** Requests and prompt tokens by what they were for: answers to the user, and what the program asked by itself. */
  byKind(): Record<string, { requests: number; tokens: number }> {
    const kinds: Record<string, { requests: number; tokens: number }> = {};
    for (const { body, usage } of this.api.messages) {
      const kind = isTurn(body) ? 'turn' : JSON.stringify((body as { system?: unknown } | null)?.system ?? '').slice(0, 90);
      const sum = (kinds[kind] ??= { requests: 0, tokens: 0 });
      sum.requests++;
      sum.tokens += (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0);
    }
    return kinds;
  }

  /** The last request for an answer to the user, as sent. */
  lastPrompt(): string {
    return JSON.stringify(this.api.messages.findLast(({ body }) => isTurn(body))?.body ?? null);
  }

  compactions(): Line[] {
    return this.run.of('compaction').filter((line) => line['phase'] === 'end' && line['ok'] === true);
  }

  /** Peak resident memory of the program in MB; null where the system does not tell. */
  async peakMemory(): Promise<number | null> {
    const { readFile } = await import('node:fs/promises');
    const status = await readFile(`/proc/${this.run.pid}/status`, 'utf8').catch(() => '');
    const peak = /VmHWM:\s+(\d+) kB/.exec(status)?.[1];
    return peak === undefined ? null : Number(peak) / 1024;
  }

  async dispose(): Promise<void> {
    this.run.kill();
    await this.run.exited;
    await this.api.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Until no request is under way. */
  private async quiet(): Promise<void> {
    await Promise.all(this.api.messages.slice(-4).map(({ closed }) => closed));
  }
}

/** A summariser as the measured products had it: it takes a while, writes at most 6 KB and forgets most of what it read. */
export function lossySummary(request: Asked, seconds: number): Script {
  const careful = defaultReply(request);
  const text = careful.blocks
    .flatMap((block) => ('pieces' in block && block.type === 'text' ? block.pieces.filter((piece) => typeof piece === 'string') : []))
    .join('');
  return after(delay(seconds * 1000), reply(forgetful(text)));
}

/** Keeps every twelfth fact of a structured summary. */
function forgetful(text: string): string {
  try {
    const state = JSON.parse(text) as { logos?: string[]; conversation_summary?: string };
    if (!state.logos) return text.slice(0, 6_000);
    return JSON.stringify({ ...state, logos: state.logos.filter((_, index) => index % 12 === 0).slice(0, 20) });
  } catch {
    return text.slice(0, 6_000);
  }
}

/** What the user's newest message asks the model to call; nothing once its calls have been answered. */
export function asksIn(request: Asked, pattern: RegExp): string[] {
  const blocks = request.prompt.turns.at(-1)?.blocks ?? [];
  if (blocks.some(({ block }) => block.type === 'tool_result')) return [];
  return [...request.last.matchAll(pattern)].map(([, word]) => word!);
}

export function isTurn(body: unknown): boolean {
  const hasTools = ((body as { tools?: unknown[] } | null)?.tools?.length ?? 0) > 0;
  return hasTools && !/<threadkeeper-notice-\d+ kind=\\"compression\\">/.test(JSON.stringify(body));
}

export function check(row: string, measured: string, target: string, ok: boolean, note?: string): BenchRow {
  return { row, measured, target, ok, ...(note === undefined ? {} : { note }) };
}

export function thousands(tokens: number): string {
  return tokens >= 1_000_000 ? `${(tokens / 1_000_000).toFixed(2)}M` : `${(tokens / 1_000).toFixed(1)}k`;
}
