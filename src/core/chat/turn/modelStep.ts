import type { Clock, IdSource, SessionStore } from '../../ports';
import type { ModelInfo } from '../../models/modelInfo';
import type { ModelBlock } from '../../models/modelRequest';
import type { ModelFailure, TokenUsage } from '../../models/modelEvent';
import type { ContextEngine } from '../../context/engine';
import type { EntryContent, StoredEntry } from '../../session/entry';
import { attemptDiscarded } from '../../session/liveCompaction';
import type { BranchState } from '../branchState';
import type { ConversationEvent } from '../events';
import type { PartialChunk } from '../../session/storage';

export interface StepDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly emit: (event: ConversationEvent) => void;
  /** The size of what streams has changed: the gauge moves with it. */
  readonly onGrowth: () => void;
}

export interface StepOutcome {
  readonly entries: readonly StoredEntry[];
  /** Id of the model that was asked. */
  readonly model: string;
  /** The visible text of the step. */
  readonly text: string;
  readonly stopReason: string | null;
  readonly failure: ModelFailure | null;
}

type ToolUse = Extract<ModelBlock, { type: 'tool_use' }>;

/**
 * One request and its answer. Blocks are appended as they complete; text is durable before it is shown; what had been shown when
 * the stream broke is appended as an interrupted entry. Rejects only when the store does.
 */
export async function modelStep(deps: StepDeps, signal: AbortSignal): Promise<StepOutcome> {
  const { branch, engine, emit } = deps;
  // Another model may be chosen while this one answers, for the next request: what comes is this one's all the same.
  const { client, info } = engine.binding;
  const { provider, id } = info;
  const step = new Step(deps, info);
  const raw = engine.rawRequestTokens();
  const { used } = engine.measure();
  // From here on the provider keeps the prompt, however long it answers.
  const at = deps.clock.now();
  let usage: TokenUsage | null = null;
  let failure: ModelFailure | null = null;
  let stopReason: string | null = null;
  try {
    for await (const event of client.stream(await engine.request(), signal)) {
      if (event.type === 'text_delta') step.add(event.index, 'message', event.text);
      else if (event.type === 'thinking_delta') step.add(event.index, 'thinking', event.text);
      else if (event.type === 'block') await step.complete(event.index, event.block);
      else if (event.type === 'usage') usage = event.usage;
      else if (event.type === 'stopped') stopReason = event.reason;
      else failure = event.failure;
    }
    await step.breakOff(failure);
  } finally {
    await step.end();
  }
  engine.setLive('');
  const last = step.entries.at(-1);
  // A provider that reports nothing, or an answer that was stopped before it was told: paid for all the same.
  const said = step.entries.reduce((sum, entry) => sum + branch.tokensOf(entry), 0);
  if (!usage && client.generates && step.entries.length > 0)
    usage = { input: Math.round(used), output: said, cacheRead: 0, cacheWrite: 0, estimated: true };
  // Claude reports what it has written when it begins, and the rest at its end.
  else if (usage && failure && usage.output < said) usage = { ...usage, output: said, estimated: true };
  if (usage && (failure || !last)) {
    // Stopped or broken off, and paid for: it measures nothing, because what came of it is not in the prompt as a whole.
    const entry = last?.uuid ?? branch.leaf;
    if (entry !== null) await branch.spend([{ entry, provider, model: id, kind: 'failed', ...usage, cost: null, at }]);
  }
  if (usage && last && !failure) {
    const { cost } = await branch.recordUsage({ entry: last.uuid, provider, model: id, kind: 'turn', ...usage, cost: null, at });
    const { binding } = engine;
    if (!usage.estimated && binding.info.provider === provider && binding.info.id === id) await engine.learn(usage, raw);
    emit({ type: 'usage_reported', model: id, usage, kind: 'turn', cost });
  }
  return { entries: step.entries, model: id, text: step.text, stopReason, failure };
}

class Step {
  readonly entries: StoredEntry[] = [];
  text = '';
  private readonly writers = new Map<number, { writer: PartialWriter; kind: 'message' | 'thinking'; startedAt: number }>();

  constructor(
    private readonly deps: StepDeps,
    private readonly info: ModelInfo,
  ) {}

  add(index: number, kind: 'message' | 'thinking', text: string): void {
    if (text === '') return;
    const { store, clock, ids, branch, engine, emit, onGrowth } = this.deps;
    let open = this.writers.get(index);
    if (!open) {
      const { provider, id: model } = this.info;
      const entry = ids.next();
      const chunk = { entry, session: branch.session.uuid, parent: branch.leaf, kind, provider, model, createdAt: clock.now() };
      const writer: PartialWriter = new PartialWriter(store, clock, chunk, (shown) => {
        emit({ type: 'text_delta', entryId: entry, block: kind, model, text: shown });
        engine.setLive(writer.shown);
        onGrowth();
      });
      open = { writer, kind, startedAt: clock.now() };
      this.writers.set(index, open);
    }
    open.writer.add(text);
  }

  async complete(index: number, block: ModelBlock): Promise<void> {
    const open = this.writers.get(index);
    const content = this.toContent(block, open ? this.deps.clock.now() - open.startedAt : undefined);
    if (!content) {
      this.writers.delete(index);
      await open?.writer.end();
      if (open) this.deps.emit({ type: 'live_dropped', entryId: open.writer.entryId });
      return;
    }
    const stored = await this.store(content, open?.writer.entryId);
    this.writers.delete(index);
    if (open && 'text' in content) await open.writer.replacedBy(content.text);
    this.deps.engine.setLive('');
    this.deps.emit({ type: 'entry_appended', entry: stored });
  }

  /** Keeps what had been shown of unfinished blocks; after a failure the whole attempt is taken out of the prompt. */
  async breakOff(failure: ModelFailure | null): Promise<void> {
    const { provider, id: model } = this.info;
    const interrupted = failure?.reason === 'cancelled' ? ('stopped' as const) : ('disconnected' as const);
    for (const { writer, kind } of this.writers.values()) {
      await writer.finish();
      if (writer.shown === '') this.deps.emit({ type: 'live_dropped', entryId: writer.entryId });
      else if (kind === 'message')
        await this.append({ type: 'message', role: 'assistant', text: writer.shown, provider, model, interrupted }, writer.entryId);
      else await this.append({ type: 'thinking', text: writer.shown, provider, model, interrupted }, writer.entryId);
    }
    this.writers.clear();
    if (failure && failure.reason !== 'cancelled' && this.entries.length > 0) {
      await this.append({
        type: 'custom',
        customType: attemptDiscarded,
        data: { entries: this.entries.map((entry) => entry.uuid), reason: failure.reason },
      });
    }
  }

  /** Nothing more is shown, also where the store has failed: text behind the end of a turn would stand below its error. Never rejects. */
  async end(): Promise<void> {
    for (const { writer } of this.writers.values()) await writer.end();
    this.writers.clear();
  }

  private async append(content: EntryContent, uuid?: string): Promise<void> {
    this.deps.emit({ type: 'entry_appended', entry: await this.store(content, uuid) });
  }

  private async store(content: EntryContent, uuid?: string): Promise<StoredEntry> {
    const isMark = content.type === 'custom';
    const stored = await this.deps.branch.append(content, { display: !isMark, modelFacing: !isMark, ...(uuid ? { uuid } : {}) });
    if (content.type === 'message') this.text += content.text;
    if (!isMark) this.entries.push(stored);
    return stored;
  }

  /**
   * Some servers count their calls anew with every answer: a result could not be told from an older one, and other providers refuse the
   * prompt.
   */
  private unusedId(callId: string): string {
    const { branch, ids } = this.deps;
    const isTaken = branch.entries.some(({ content }) => content.type === 'tool_call' && content.callId === callId);
    return isTaken ? newCallId(ids) : callId;
  }

  private toContent(block: ModelBlock, durationMs: number | undefined): EntryContent | null {
    const { provider, id: model } = this.info;
    switch (block.type) {
      case 'text':
        return block.text === '' ? null : { type: 'message', role: 'assistant', text: block.text, provider, model };
      case 'thinking':
        return {
          type: 'thinking',
          text: block.text,
          promptId: this.deps.engine.promptId,
          provider,
          model,
          ...(block.signature ? { signature: block.signature } : {}),
          ...(block.redactedData ? { redactedData: block.redactedData } : {}),
          ...(durationMs === undefined ? {} : { durationMs }),
        };
      case 'tool_use':
        return toolCallContent({ ...block, callId: this.unusedId(block.callId) }, provider, model);
      case 'image':
      case 'tool_result':
        return null;
    }
  }
}

/** OpenAI takes 40 characters. */
function newCallId(ids: IdSource): string {
  return `call_${ids.next().replaceAll('-', '')}`;
}

function toolCallContent(block: ToolUse, provider: string, model: string): EntryContent {
  return { type: 'tool_call', callId: block.callId, name: block.name, input: block.input, provider, model };
}

/**
 * Least time between two commits of streaming text. What is shown has to survive a kill, so text is committed *before* it is
 * shown; a quarter of a second, as in other designs, would then be seen as stutter.
 */
const partialIntervalMs = 100;

/**
 * Makes streaming text durable, then shows it. Text that arrives while a commit is under way or less than
 * `partialIntervalMs` after the last one is gathered into the next.
 */
class PartialWriter {
  private pending = '';
  private lastCommit = -Infinity;
  private running: Promise<void> | null = null;
  private failure: unknown = null;
  private finished = false;
  private written = '';

  constructor(
    private readonly store: Pick<SessionStore, 'writePartial'>,
    private readonly clock: Clock,
    private readonly chunk: Omit<PartialChunk, 'text' | 'offset'>,
    private readonly show: (text: string) => void,
  ) {}

  get entryId(): string {
    return this.chunk.entry;
  }

  /** All text that has been committed and shown. */
  get shown(): string {
    return this.written;
  }

  /** Throws what an earlier commit failed with, so that a full disk ends the turn instead of losing text silently. */
  add(text: string): void {
    if (this.failure) throw this.failure;
    this.pending += text;
    this.running ??= this.run();
  }

  /**
   * The finished entry has been appended with all of the text: what was still waiting needs no commit of its own and is shown.
   * Never rejects.
   */
  async replacedBy(text: string): Promise<void> {
    await this.end();
    const rest = text.startsWith(this.written) ? text.slice(this.written.length) : '';
    if (rest === '') return;
    this.written = text;
    this.show(rest);
  }

  /** Lets go of what waits, and resolves when nothing is shown any more. Never rejects. */
  async end(): Promise<void> {
    this.pending = '';
    while (this.running) await this.running;
  }

  /** Commits and shows what is left. Rejects with what a commit failed with. */
  async finish(): Promise<void> {
    this.finished = true;
    while (this.running) await this.running;
    if (this.pending !== '') await (this.running = this.run());
    if (this.failure) throw this.failure;
  }

  private async run(): Promise<void> {
    try {
      while (this.pending !== '') {
        const wait = this.lastCommit + partialIntervalMs - this.clock.now();
        if (wait > 0 && !this.finished) await this.clock.sleep(Math.min(wait, partialIntervalMs));
        const text = this.pending;
        this.pending = '';
        if (text === '') break;
        await this.store.writePartial({ ...this.chunk, text, offset: this.written.length });
        this.lastCommit = this.clock.now();
        this.written += text;
        this.show(text);
      }
    } catch (error) {
      this.failure = error;
    } finally {
      this.running = null;
    }
  }
}
