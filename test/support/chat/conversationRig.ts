import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Conversation } from '../../../src/core/chat/conversation';
import type { ConversationDeps } from '../../../src/core/chat/conversationDeps';
import type { ConversationEvent } from '../../../src/core/chat/events';
import type { AskWhenFull, ReviewCompaction } from '../../../src/core/chat/turn/turn';
import type { ApprovalRule } from '../../../src/core/chat/turn/approvals';
import type { ApprovalQuestion, Tool } from '../../../src/core/tools/tool';
import { ModelError, type ModelFailureReason, type TokenUsage } from '../../../src/core/models/modelEvent';
import type { ModelBinding } from '../../../src/core/context/engine';
import type { CostOf } from '../../../src/core/cost/prices';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { CancelledError, type StoreError } from '../../../src/core/errors';
import { resolveSessionPolicy, type PolicyOverrides } from '../../../src/core/context/policy/resolvePolicy';
import { inProcessAnalyst } from '../../../src/core/compaction/measure/textAnalysis';
import type { Logger, SessionStore, Summarizer, SummaryRequest, TextAnalyst } from '../../../src/core/ports';
import type { CallRecorder } from '../../../src/core/rewind/callRecorder';
import type { ModelRequest } from '../../../src/core/models/modelRequest';
import { entryText, isEntryOf, type EntryOf } from '../../../src/core/session/entry';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { patience } from '../run/patience';
import { openTestStore } from '../store/storeTemp';
import { says, ScriptedModel } from './scriptedModel';
import { TestClock } from './testClock';

export const silentLog: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A summariser that answers with a fixed state, or fails. */
export class ScriptedSummarizer implements Summarizer {
  readonly provider = 'scripted';
  readonly model = 'scripted-summarizer';
  contextTokens = 100_000;
  /** Taken one by one before the fixed answer; a function sees the request. */
  readonly answers: (string | Error | ((prompt: string) => string | Error))[] = [];
  needsConsent = false;
  /** Ignores its signal and never answers. */
  isDead = false;
  /** Of the conversations it may go on from, until it declines. */
  continuesFrom?: string;
  /** What each of its requests went on from. */
  readonly continued: (ModelRequest | null)[] = [];
  readonly systems: string[] = [];
  readonly schemas: SummaryRequest['schema'][] = [];
  readonly prompts: string[] = [];
  fail: ModelFailureReason | null = null;
  /** What it says that a request has used. */
  usage: TokenUsage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 };
  /** What it writes; null: a state. */
  answer: string | null = null;
  /** What it has written, and said that it used, when it begins to wait or fails. */
  begun: { readonly text: string; readonly usage: TokenUsage | null; readonly more?: string } | null = null;
  /** Waits until it is opened, or the signal is aborted. */
  hold: { readonly opened: Promise<void> } | null = null;

  declineContinuing(): void {
    delete this.continuesFrom;
  }

  async summarize(
    { prompt, system, schema, continues, onProgress }: SummaryRequest,
    signal: AbortSignal,
  ): Promise<{ text: string; usage: TokenUsage }> {
    this.prompts.push(prompt);
    this.systems.push(system);
    this.schemas.push(schema);
    this.continued.push(continues ?? null);
    if (this.begun) onProgress?.(this.begun.usage, this.begun.text);
    if (this.begun?.more) onProgress?.(null, this.begun.more);
    if (this.isDead) return new Promise(() => undefined);
    if (this.hold)
      await Promise.race([this.hold.opened, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))]);
    if (signal.aborted) throw new CancelledError();
    const scripted = this.answers.shift();
    const answer = typeof scripted === 'function' ? scripted(prompt) : scripted;
    if (answer !== undefined) {
      const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
      onProgress?.(usage, '');
      if (answer instanceof Error) throw answer;
      return { text: answer, usage };
    }
    if (this.fail) throw new ModelError({ reason: this.fail, detail: 'by script' });
    const text =
      this.answer ?? JSON.stringify({ logos: ['the plan is set (#2)'], pathos: [], abstract: [], conversation_summary: 'They talked.' });
    return { text, usage: this.usage };
  }
}

/** A conversation over a real store in a temporary folder, with a scripted model and time that never waits. */
export class ConversationRig {
  readonly events: ConversationEvent[] = [];
  conversation!: Conversation;
  session = '';
  /** What the next turn resolves to. */
  modelId = 'scripted-1';
  autoCompact = true;
  /** Of models whose window differs. */
  readonly windows = new Map<string, number>();
  policy = 'balanced';
  offersBranchSummary = true;
  /** Of the policy, by setting; from the next turn on. Without any, nothing runs in the background. */
  overrides: PolicyOverrides = {};
  approvalRule: (question: ApprovalQuestion) => ApprovalRule = () => 'allow';
  maxRounds = 50;
  recallHints = false;
  /** Of conversations that are opened from now on. */
  sideQuestions = false;
  /** Head of the notes. */
  notes: string | null = null;
  /** Beside `write_file`, `dump` and `echo`; for conversations that are opened from now on. */
  moreTools: readonly Tool[] = [];
  otherTools: readonly Tool[] = [];
  /** Of conversations that are opened from now on. */
  recorder: CallRecorder | null = null;
  whenFull: AskWhenFull = async () => 'summarize';
  review: ReviewCompaction = async () => true;
  /** Of conversations that are opened from now on. */
  analyst: TextAnalyst = inProcessAnalyst;
  readonly clock = new TestClock();
  readonly files = new Map<string, { readonly text: string; readonly hash: string }>();
  readonly logged: { readonly event: string; readonly data: Readonly<Record<string, unknown>> | undefined }[] = [];
  /** Of a real provider's client, instead of the scripted model. */
  private costOf: CostOf = () => null;
  private counts: number | undefined;
  private binding: (() => Promise<ModelBinding>) | null = null;
  private appendFailure: StoreError | null = null;
  private queueFailure: StoreError | null = null;

  /** Whether the model brings a summariser; asked at the next turn. */
  summarizes = true;

  private constructor(
    readonly folder: string,
    public store: SessionStore,
    readonly model: ScriptedModel,
    readonly summarizer: ScriptedSummarizer,
    public instructions: string,
  ) {}

  static async create(
    options: {
      window?: number /** Tokens of any text, instead of an estimate. */;
      counts?: number;
      instructions?: string;
      binding?: () => Promise<ModelBinding>;
      costOf?: CostOf;
    } = {},
  ): Promise<ConversationRig> {
    const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-rig-'));
    const model = new ScriptedModel({ window: options.window ?? 10_000, maxOutput: 1_000 });
    const rig = new ConversationRig(folder, await openTestStore(folder), model, new ScriptedSummarizer(), options.instructions ?? '');
    rig.binding = options.binding ?? null;
    rig.costOf = options.costOf ?? (() => null);
    rig.counts = options.counts;
    const session = await rig.store.createSession({ uuid: new UuidV7().next(), channel: 'cli', createdAt: Date.now() });
    rig.session = session.uuid;
    await rig.open();
    return rig;
  }

  /** Closes the store and opens the session again, as a new process would. */
  async reopen(): Promise<void> {
    this.conversation.dispose();
    await this.store.close();
    this.store = await openTestStore(this.folder);
    await this.open();
  }

  /** The same session in a window of its own, with the same policy; to be disposed of first. */
  async besides(): Promise<ConversationRig> {
    const rig = new ConversationRig(
      this.folder,
      await openTestStore(this.folder, 'there'),
      this.model,
      new ScriptedSummarizer(),
      this.instructions,
    );
    Object.assign(rig, { session: this.session, policy: this.policy, overrides: this.overrides });
    await rig.open();
    return rig;
  }

  private async open(): Promise<void> {
    const scripted = async (): Promise<ModelBinding> => {
      const info = await this.model.describe(this.modelId);
      return {
        client: this.model,
        info: { ...info, window: this.windows.get(this.modelId) ?? info.window },
        summarizer: this.summarizes ? this.summarizer : null,
      };
    };
    const binding = this.binding ?? scripted;
    const keep: Logger['info'] = (event, data) => void this.logged.push({ event, data });
    const deps: ConversationDeps = {
      store: this.faulty(this.store),
      counter: { count: async (texts) => texts.map((text) => this.counts ?? estimateTokens(text)) },
      clock: this.clock,
      ids: new UuidV7(),
      log: { debug: keep, info: keep, warn: keep, error: keep },
      tools: () => [
        {
          name: 'write_file',
          description: 'writes a file',
          inputSchema: { type: 'object' },
          access: 'read',
          run: async () => ({ text: 'written', status: 'ok' }),
        },
        {
          name: 'dump',
          description: 'prints many words',
          inputSchema: { type: 'object' },
          access: 'read',
          run: async (input) => ({ text: this.words((input as { tokens: number }).tokens), status: 'ok' }),
        },
        {
          name: 'echo',
          description: 'says it back',
          inputSchema: { type: 'object' },
          access: 'read',
          run: async (input) => ({ text: `echo: ${(input as { text: string }).text}`, status: 'ok' }),
        },
        ...this.moreTools,
      ],
      ...(this.recorder ? { recorder: this.recorder } : {}),
      sideQuestions: this.sideQuestions,
      otherTools: () => this.otherTools,
      approvalRule: (question) => this.approvalRule(question),
      maxRounds: () => this.maxRounds,
      recallHints: () => this.recallHints,
      instructions: () => this.instructions,
      memoryHead: async () => this.notes,
      resolveModel: binding,
      costOf: this.costOf,
      policy: (session) =>
        resolveSessionPolicy(
          {
            preset: this.policy,
            overrides: {
              'compaction.automatic': this.autoCompact,
              'checkpoint.enabled': false,
              'compaction.prepareAtPercent': 0,
              ...this.overrides,
            },
          },
          session.policy,
        ).policy,
      askWhenFull: (...question) => this.whenFull(...question),
      reviewCompaction: (...review) => this.review(...review),
      offerBranchSummary: () => this.offersBranchSummary,
      random: () => 0,
      analyst: this.analyst,
      pinnedFiles: { read: async (path) => this.files.get(path) },
    };
    this.conversation = await Conversation.open(deps, this.session, await binding());
    this.conversation.onDidEmit((event) => this.events.push(event));
  }

  /** From now on every append rejects with this, until null. */
  failAppends(failure: StoreError | null): void {
    this.appendFailure = failure;
  }

  /** From now on every change of the queue rejects with this, until null. */
  failQueue(failure: StoreError | null): void {
    this.queueFailure = failure;
  }

  private faulty(store: SessionStore): SessionStore {
    const append: SessionStore['append'] = (...args) => (this.appendFailure ? Promise.reject(this.appendFailure) : store.append(...args));
    const saveQueue: SessionStore['saveQueue'] = (...args) =>
      this.queueFailure ? Promise.reject(this.queueFailure) : store.saveQueue(...args);
    return Object.create(store, { append: { value: append }, saveQueue: { value: saveQueue } }) as SessionStore;
  }

  /** Turns of about so many tokens each, half of them the user's. */
  async fill(turns: number, tokens: number, name = 'question'): Promise<void> {
    for (let i = 0; i < turns; i++) {
      this.model.scripts.push(says(`answer ${i} ${this.words(tokens / 2)}`));
      await this.conversation.send(`${name} ${i} ${this.words(tokens / 2)}`);
    }
  }

  /** The compactions that were recorded while this rig listened. */
  compactions(): EntryOf<'compaction'>[] {
    return this.events.flatMap((event) => (event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction') ? [event.entry] : []));
  }

  /** The messages of the last request to the model, as JSON. */
  get lastSent(): string {
    return JSON.stringify(this.model.requests.at(-1)!.messages);
  }

  /** About this many tokens of distinct words, by the estimate. */
  words(tokens: number): string {
    let text = '';
    for (let i = 0; text.length < tokens * 4; i++) text += `w${(i * 7919) % 100_003} `;
    return text.slice(0, tokens * 4);
  }

  /** Size of a request by the estimate. */
  size(request: ModelRequest): number {
    const texts = request.messages.flatMap(({ blocks }) => blocks.map((block) => ('text' in block ? block.text : JSON.stringify(block))));
    return estimateTokens(request.system) + texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  }

  async texts(): Promise<string[]> {
    const { entries } = await this.store.page(this.session, { limit: 100 });
    return entries.filter(({ content }) => content.type === 'message').map(({ content }) => entryText(content));
  }

  gate(): { readonly opened: Promise<void>; open(): void } {
    let open!: () => void;
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { opened, open };
  }

  /** Resolves when the condition holds. Rejects after half a minute of a quiet machine: what never ends would slow all tests behind it. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    const latest = Date.now() + 30_000 * patience();
    while (!(await condition())) {
      if (Date.now() > latest) throw new Error(`Waited in vain until ${String(condition)}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** `isLast`: no other window is left, and the folder goes with it. */
  async dispose(isLast = true): Promise<void> {
    this.conversation.dispose();
    await this.conversation.idle();
    await this.store.close();
    if (isLast) await rm(this.folder, { recursive: true, force: true });
  }
}

/** Reports what a provider would that keeps a prompt for five minutes. */
export class CachedTalk {
  private last = { text: '', at: -Infinity };

  constructor(private readonly rig: ConversationRig) {}

  async say(text: string, answer = 'Understood.'): Promise<void> {
    const { rig } = this;
    rig.model.scripts.push((request) => says(answer, this.usage(request)));
    const outcome = await rig.conversation.send(text);
    assert.equal(outcome.error, null);
    await rig.conversation.idle();
  }

  usage(request: ModelRequest) {
    const { rig } = this;
    const text = `${request.system}${JSON.stringify(request.tools)}${JSON.stringify(request.messages.map(({ role, blocks }) => [role, blocks]))}`;
    const all = Math.ceil(text.length / 4);
    const isWarm = rig.clock.now() - this.last.at < 5 * 60_000;
    let shared = 0;
    while (isWarm && shared < text.length && text[shared] === this.last.text[shared]) shared++;
    const cacheRead = Math.floor(shared / 4);
    this.last = { text, at: rig.clock.now() };
    return { input: 0, output: 10, cacheRead, cacheWrite: all - cacheRead };
  }
}
