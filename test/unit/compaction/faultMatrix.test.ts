import assert from 'node:assert/strict';
import { presetNames, type PresetName } from '../../../src/core/context/policy/resolvePolicy';
import type { OfflineModel } from '../../../src/core/offline/offlineModel';
import { isEntryOf } from '../../../src/core/session/entry';
import { ModelBindings } from '../../../src/node/runtime/modelBindings';
import { ConversationRig, silentLog } from '../../support/chat/conversationRig';
import { enduranceRounds } from '../../support/chat/endurance';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import { defaultReply, wantsSummary, type Asked } from '../../support/messagesApi/messagesApiDefault';
import {
  after as following,
  disconnect,
  hold,
  overloaded,
  rateLimited,
  refusal,
  reply,
  toolCall,
  type Hold,
  type Reply,
  type Script,
} from '../../support/messagesApi/messagesApiScript';

type Scene = 'chat' | 'tools';

interface Fault {
  /** What the n-th request for a summary gets (0 is the first); undefined: an answer. */
  readonly at: (index: number) => Script | 'waits' | undefined;
  /** What the user reads where there is no summary because of it. */
  readonly reason: RegExp;
  /** Turns after which an answer that waits is let go; omitted: never. */
  readonly late?: number;
  /** It goes on for ever. */
  readonly lasts?: true;
}

const first = (count: number, script: () => Script) => (index: number) => (index < count ? script() : undefined);

const faults: Readonly<Record<string, Fault>> = {
  'one 429': { at: first(1, () => rateLimited(1)), reason: /rate limit/ },
  'one 529': { at: first(1, overloaded), reason: /Overloaded/ },
  'four 529': { at: first(4, overloaded), reason: /Overloaded/ },
  'a dead summariser': { at: () => 'waits', reason: /did not answer in time/, lasts: true },
  'a summariser that is 20 turns late': { at: () => 'waits', late: 20, reason: /did not answer in time/, lasts: true },
  'a summariser that answers nonsense': { at: () => reply('Bananas are yellow.'), reason: /not usable|was not a snapshot/, lasts: true },
  'a summariser that refuses': {
    at: () => refusal('This cannot be summarised.'),
    reason: /declined|refus|cannot be summarised/,
    lasts: true,
  },
  'a disconnect': { at: first(1, () => reply('{"logos": ["half', disconnect)), reason: /connection|network|broke|terminated|closed/i },
};

const turns = 18;
/**
 * Turns with a compaction after which all has been seen: two in a row that do not help end automatic compaction. With
 * THREADKEEPER_ROUNDS=100 every conversation has all its turns.
 */
const enough = enduranceRounds(3);
/** Where what went wrong does not last, a compaction is as it should be by then. */
const mostTurns = 50;
const stillWriting = /^The summary is still being written/;

/** A conversation under one preset, over a real store, the client and the wire of a provider. */
class FaultRun {
  readonly asked: { readonly turn: number; readonly kind: string }[] = [];
  turn = 0;
  private readonly compacted = new Set<number>();
  private summaries = 0;
  private readonly waiting: { readonly hold: Hold; readonly since: number }[] = [];

  constructor(
    private readonly api: MessagesApi,
    private readonly rig: ConversationRig,
    private readonly scene: Scene,
    private readonly fault: Fault,
  ) {
    rig.conversation.onDidEmit(({ type }) => type === 'compaction_started' && this.compacted.add(this.turn));
  }

  /** So much has been tried, and what was late has come, that more turns tell nothing new. */
  get hasSeenEnough(): boolean {
    const { late = -1 } = this.fault;
    const isHere = late < 0 || this.waiting.some(({ since }) => this.turn - since > late);
    return isHere && [...this.compacted].filter((turn) => turn > late).length >= enough;
  }

  respond(request: Asked): Script {
    if (!isSummary(request)) return this.answer(request);
    this.asked.push({ turn: this.turn, kind: `${kindOf(request)} of ${request.prompt.model.id}` });
    const fault = this.fault.at(this.summaries++);
    if (fault !== 'waits') return fault ?? written(request);
    const held = { hold: hold(), since: this.turn };
    this.waiting.push(held);
    return following(held.hold, written(request));
  }

  /** One turn; time passes only while a summariser lets somebody wait. */
  async send(): Promise<void> {
    this.turn++;
    const { late = Infinity } = this.fault;
    for (const { hold: one, since } of this.waiting) if (this.turn - since >= late) one.release();
    let isOver = false;
    const sending = this.rig.conversation
      .send(`question ${this.turn} of port 80${this.turn} ${this.rig.words(130)}`)
      .finally(() => (isOver = true));
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.isWaiting) this.rig.clock.pass(20);
    }
    const { error } = await sending;
    assert.equal(error, null, `turn ${this.turn}`);
  }

  release(): void {
    for (const { hold: one } of this.waiting) one.release();
  }

  private get isWaiting(): boolean {
    const compacting = this.rig.events.findLast((event) => event.type === 'phase_changed');
    return this.waiting.length > 0 && compacting?.type === 'phase_changed' && compacting.phase === 'compacting';
  }

  private answer({ prompt }: Asked): Script {
    const isAnswered = prompt.turns.at(-1)?.blocks.some(({ block }) => block.type === 'tool_result');
    if (this.scene === 'tools' && !isAnswered) return reply(toolCall('dump', { tokens: 130 }));
    return reply(`answer ${this.turn} ${this.rig.words(130)}`);
  }
}

/** The double does not know a snapshot's form by itself. */
const asksCheckpoint = ({ system }: Asked) => /write a checkpoint/.test(system);
const isSummary = (request: Asked) => wantsSummary(request) || asksCheckpoint(request);
const checkpoint = JSON.stringify({
  summary: 'They talked about ports.',
  topics: ['ports'],
  keyDecisions: ['the ports stay (#1)'],
  openQuestions: [],
});

function written(request: Asked): Reply {
  return asksCheckpoint(request) ? reply(checkpoint) : defaultReply(request);
}

/** A compaction may be asked for in the form of a snapshot, too. */
function kindOf({ last }: Asked): string {
  if (/is not good enough/.test(last)) return 'repair';
  if (/^<conversation-\d+>\n\[part 1\]/m.test(last)) return 'merge';
  return /JSON object of the checkpoint now/.test(last) ? 'checkpoint' : 'summary';
}

describe('a conversation whose summariser fails', () => {
  let api: MessagesApi;
  before(async () => {
    const model = { maxOutput: 1_000, minCacheTokens: 64, omitsThinking: false };
    api = await MessagesApi.start({
      models: [
        { ...model, id: 'claude-haiku-test', name: 'small', window: 100_000 },
        { ...model, id: 'claude-test', name: 'own', window: 30_000 },
      ],
    });
  });
  after(() => api.close());

  for (const preset of presetNames) {
    for (const scene of ['chat', 'tools'] as const) {
      for (const [name, fault] of Object.entries(faults)) {
        it(`${preset}, ${scene}, ${name}: every turn is answered, and what is shown is true`, () => check(preset, scene, fault));
      }
    }
  }

  async function check(preset: PresetName, scene: Scene, fault: Fault): Promise<void> {
    const access = { provider: 'anthropic' as const, apiKey: api.apiKey, baseURL: api.url };
    const bindings = new ModelBindings({ offline: {} as OfflineModel, log: silentLog, reach: async () => access });
    const rig = await ConversationRig.create({ binding: () => bindings.resolve({ ...access, model: 'claude-test' }) });
    rig.policy = preset;
    // GoClaw keeps 20 messages: they, and the fixed part of the prompt, have to leave something to fold below its trigger.
    rig.overrides = {
      'context.maxTokens': preset === 'goclaw' ? 6_800 : 6_000,
      'checkpoint.enabled': preset === 'balanced' || preset === 'goclaw',
      'checkpoint.minTokens': 1_000,
      ...(preset === 'balanced' ? { 'compaction.prepareAtPercent': 78 } : {}),
    };
    // Hundreds of prompts of each conversation would be kept to the end, and looked through for every request.
    api.requests.length = 0;
    const run = new FaultRun(api, rig, scene, fault);
    api.respond = (request) => run.respond(request);
    try {
      const compactions = () =>
        rig.events.flatMap((event) =>
          event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction') ? [event.entry.content] : [],
        );
      const isAsBefore = () => compactions().some(({ rung }) => rung === 'model' || rung === 'prepared' || rung === 'checkpoint');
      for (let turn = 0; turn < turns + (fault.late ?? 0) && !run.hasSeenEnough; turn++) await run.send();
      for (let turn = run.turn; turn < mostTurns && !fault.lasts && !isAsBefore(); turn++) await run.send();
      const records = compactions();
      const told = rig.events.flatMap((event) => (event.type === 'compaction_ended' && event.message !== null ? [event.message] : []));
      for (const message of told) assert.ok(stillWriting.test(message) || fault.reason.test(message), message);
      for (const { note } of records) assert.ok(note === undefined || fault.reason.test(note), note);
      assert.equal(
        told.some((message) => message.includes('Automatic compaction stops')),
        false,
      );
      const counts = new Map<string, number>();
      for (const { turn, kind } of run.asked) counts.set(`${kind} in turn ${turn}`, (counts.get(`${kind} in turn ${turn}`) ?? 0) + 1);
      assert.deepEqual(
        [...counts].filter(([, count]) => count > 2),
        [],
      );
      if (!fault.lasts) assert.ok(isAsBefore(), 'it compacts again');
      assert.deepEqual(api.errors, []);
    } finally {
      run.release();
      await rig.dispose();
    }
  }
});
