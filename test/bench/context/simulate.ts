import { Conversation } from '../../../src/core/chat/conversation';
import { inProcessAnalyst } from '../../../src/core/compaction/measure/textAnalysis';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import type { Logger, MemoryNotes } from '../../../src/core/ports';
import type { Tool } from '../../../src/core/tools/tool';
import { isEntryOf, type EntryOf } from '../../../src/core/session/entry';
import { ModelSummarizer } from '../../../src/node/models/modelSummarizer';
import { conversationDeps } from '../../../src/node/runtime/conversationDeps';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { openTestStore, tempFolder } from '../../support/store/storeTemp';
import type { Corpus } from './scripts';
import { SimulatedModel, type SimulatedOptions } from './simulatedModel';

export interface Outcome {
  readonly turnsRight: number;
  readonly factsInContext: number;
  readonly factsReachable: number;
  /**
   * Of the facts that were updated: how many lookups tell the newest version. Short messages of a day are told in the order in which they
   * were said; which version ranks first is a test's to say (`plantedFacts`).
   */
  readonly newestTold: number;
  readonly rulesInContext: number;
  readonly model: SimulatedModel;
  readonly compactions: readonly EntryOf<'compaction'>[];
  readonly heldMs: number;
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const noNotes: MemoryNotes = {
  list: async () => [],
  read: async () => undefined,
  write: async () => undefined,
  delete: async () => undefined,
  rename: async () => undefined,
};

/** A whole conversation of the corpus under a policy, with the real engine and a real store. */
export async function simulate(policyName: string, corpus: Corpus, options: SimulatedOptions): Promise<Outcome> {
  const temp = tempFolder();
  const store = await openTestStore(temp.path);
  const model = new SimulatedModel(options);
  const session = await store.createSession({ uuid: new UuidV7().next(), channel: 'cli', createdAt: Date.now() });
  const info = await model.describe('simulated-1');
  const binding = { client: model, info, summarizer: new ModelSummarizer({ client: model, model: info.id, contextTokens: info.window }) };
  const deps = conversationDeps({
    store,
    counter: { count: async (texts) => texts.map(estimateTokens) },
    notes: noNotes,
    log: silent,
    session: session.uuid,
    costOf: () => null,
    approvalRule: () => 'allow',
    maxRounds: () => 50,
    tools: () => [],
    instructions: () => '',
    skills: [],
    policy: () => ({ preset: policyName, overrides: {} }),
    resolveModel: async () => binding,
    analyst: inProcessAnalyst,
    folders: () => [],
  });
  let recall: Tool | undefined;
  const tools: typeof deps.tools = (notify) => {
    const own = deps.tools(notify);
    recall = own.find(({ name }) => name === 'recall');
    return [...own, ...workspaceTools(model)];
  };
  const noWaiting = { ...deps.clock, sleep: async () => undefined };
  const conversation = await Conversation.open({ ...deps, clock: noWaiting, tools }, session.uuid, binding);
  const compactions: EntryOf<'compaction'>[] = [];
  conversation.onDidEmit((event) => {
    if (event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction')) compactions.push(event.entry);
  });
  try {
    let turnsRight = 0;
    for (const turn of corpus.turns) {
      model.turn = turn;
      if ((await conversation.send(turn.user)).ok) turnsRight++;
      // A person reads for longer than a summary takes.
      while (model.underWay.size > 0) await Promise.all(model.underWay);
    }
    await conversation.idle();
    const { lastPrompt } = model;
    const lookUp = async (query: string) => (await recall!.run({ query, maxTokens: 600 }, new AbortController().signal)).text;
    let [factsReachable, newestTold] = [0, 0];
    for (const { question, answer } of corpus.facts) if ((await lookUp(question)).includes(answer)) factsReachable++;
    for (const { question, answers } of corpus.updated) if ((await lookUp(question)).includes(answers.at(-1)!)) newestTold++;
    return {
      turnsRight,
      factsInContext: corpus.facts.filter(({ answer }) => lastPrompt.includes(answer)).length,
      factsReachable,
      newestTold,
      rulesInContext: corpus.rules.filter((rule) => lastPrompt.includes(rule)).length,
      model,
      compactions,
      heldMs: compactions.reduce((sum, { content }) => sum + content.heldMs, 0),
    };
  } finally {
    conversation.dispose();
    await conversation.idle();
    await store.close();
    temp.remove();
  }
}

/** What a corpus calls; the result is what its turn says it is. */
function workspaceTools(model: SimulatedModel): Tool[] {
  return ['read_file', 'edit_file', 'run_command'].map((name) => ({
    name,
    description: `${name} of the project`,
    inputSchema: { type: 'object' },
    access: 'read',
    run: async (input) =>
      model.turn?.calls.find((call) => call.name === name && JSON.stringify(call.input) === JSON.stringify(input))?.result ?? {
        text: 'There is no such file.',
        status: 'error',
      },
  }));
}
