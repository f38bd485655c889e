import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Conversation } from '../../../src/core/chat/conversation';
import type { ConversationEvent } from '../../../src/core/chat/events';
import type { MessagePrice } from '../../../src/core/context/measure/snapshot';
import type { Logger } from '../../../src/core/ports';
import { isEntryOf, type EntryOf } from '../../../src/core/session/entry';
import type { Tool } from '../../../src/core/tools/tool';
import { WorkerAnalyst } from '../../../src/node/analysis/workerAnalyst';
import { FileMemoryNotes } from '../../../src/node/memory/fileMemoryNotes';
import { conversationDeps } from '../../../src/node/runtime/conversationDeps';
import { ModelBindings } from '../../../src/node/runtime/modelBindings';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { WorkerTokenCounter } from '../../../src/node/tokens/workerTokenCounter';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';
import { workspaceTools } from '../../../src/core/tools/workspaceTools';
import { defaultEditRules } from '../../../src/core/tools/guard/guardedKinds';
import { MessagesApi, type Responder } from '../../support/messagesApi/messagesApi';
import { openTestStore, tempFolder, wasmFile } from '../../support/store/storeTemp';
import { isTurn } from '../peers/driver';
import { LeapingClock } from './leapingClock';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export const paceModel = 'claude-bench';
/** The window of the measurement that the peers' figures come from. */
const window = 100_000;
/** The size of prompts that the provider's larger models keep. */
const minCacheTokens = 1_024;

/** A machine that is busy with other things takes longer for what a summary has to be checked for. */
const longestReadMs = 15_000;

/** What the next message was said to take, with the number of requests before it. */
export interface Announced {
  readonly requests: number;
  readonly price: MessagePrice;
}

/**
 * One conversation as the command line holds it (real store, tokenizer, analyst, SDK and HTTP), whose clock and whose provider's clock
 * are one that leaps.
 */
export class PaceRig {
  readonly compactions: EntryOf<'compaction'>[] = [];
  readonly announced: Announced[] = [];
  private readonly events: ConversationEvent[] = [];

  private constructor(
    readonly folder: string,
    readonly clock: LeapingClock,
    readonly api: MessagesApi,
    readonly conversation: Conversation,
    private readonly recall: Tool,
    private readonly end: () => Promise<void>,
  ) {
    conversation.onDidEmit((event) => {
      this.events.push(event);
      if (event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction')) this.compactions.push(event.entry);
    });
  }

  static async start({ respond, hasFiles = false }: { readonly respond: Responder; readonly hasFiles?: boolean }): Promise<PaceRig> {
    const clock = new LeapingClock(Date.UTC(2026, 10, 2, 8));
    const api = await MessagesApi.start({ now: () => clock.now(), respond });
    api.setModel(paceModel, { window, maxOutput: 8_000, minCacheTokens });
    const temp = tempFolder();
    const files = join(temp.path, 'files');
    await mkdir(files);
    const store = await openTestStore(temp.path);
    const counter = new WorkerTokenCounter(join(dirname(wasmFile), 'tokenWorker.js'), silent);
    const analyst = new WorkerAnalyst(join(dirname(wasmFile), 'analystWorker.js'), silent);
    const bindings = new ModelBindings({ offline: null, log: silent, now: () => clock.now() });
    const resolve = () => bindings.resolve({ provider: 'anthropic', apiKey: api.apiKey, baseURL: api.url, model: paceModel });
    const session = await store.createSession({ uuid: new UuidV7().next(), channel: 'cli', createdAt: clock.now() });
    let recall: Tool | undefined;
    const deps = conversationDeps({
      store,
      counter,
      notes: new FileMemoryNotes(join(temp.path, 'notes')),
      log: silent,
      session: session.uuid,
      approvalRule: () => 'allow',
      maxRounds: () => 50,
      tools: () =>
        hasFiles ? workspaceTools(new DiskWorkspace([files], new CommandRunner()), clock, () => defaultEditRules).slice(0, 4) : [],
      instructions: () => '',
      skills: [],
      policy: () => ({ preset: 'balanced', overrides: {} }),
      resolveModel: resolve,
      analyst,
      folders: () => [],
    });
    const tools: typeof deps.tools = (notify) => {
      const own = deps.tools(notify);
      recall = own.find(({ name }) => name === 'recall');
      return own;
    };
    const conversation = await Conversation.open({ ...deps, clock, tools, random: () => 0 }, session.uuid, await resolve());
    return new PaceRig(files, clock, api, conversation, recall!, async () => {
      conversation.dispose();
      await conversation.idle();
      counter.dispose();
      analyst.dispose();
      await store.close();
      await api.close();
      temp.remove();
    });
  }

  /** Lets the pause pass, writes the message as a person does and sends it; when that was, and whether its turn ended well. */
  async turn(text: string, pauseMs: number): Promise<{ readonly ok: boolean; readonly at: number }> {
    await this.clock.pass(pauseMs, () => this.settle());
    await this.conversation.measureDraft(text);
    const { next } = this.conversation.snapshot.cache;
    const price = next?.[next.expects];
    if (price) this.announced.push({ requests: this.api.messages.length, price });
    const at = this.clock.now();
    const before = this.api.messages.length;
    const { ok } = await this.conversation.send(text);
    await this.read(before);
    return { ok, at };
  }

  /** As the model does: the passages that one call returns. */
  async lookUp(query: string): Promise<string> {
    return (await this.recall.run({ query, maxTokens: 600 }, new AbortController().signal)).text;
  }

  /** As long as a person reads: until a summary that was asked for behind the turn is there. */
  private async read(before: number): Promise<void> {
    await this.settle();
    const isAsked = this.api.messages.slice(before).some(({ body, usage }) => usage && !isTurn(body));
    const until = performance.now() + longestReadMs;
    while (isAsked && !this.conversation.snapshot.cache.prepared && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** Until nothing is asked of the provider and nothing runs. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      const asked = this.api.messages.length;
      await Promise.all(this.api.messages.slice(-6).map(({ closed }) => closed));
      await this.conversation.idle();
      await new Promise((resolve) => setTimeout(resolve, 20));
      quiet = this.api.messages.length === asked ? quiet + 1 : 0;
    }
  }

  dispose(): Promise<void> {
    return this.end();
  }
}
