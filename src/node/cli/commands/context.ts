import { join } from 'node:path';
import { BranchState } from '../../../core/chat/branchState';
import { systemPrompt } from '../../../core/chat/turn/systemPrompt';
import { ContextManager } from '../../../core/context/contextManager';
import { ContextEngine, type ModelBinding } from '../../../core/context/engine';
import { presetNames, resolveSessionPolicy } from '../../../core/context/policy/resolvePolicy';
import type { ContextSnapshot } from '../../../core/context/measure/snapshot';
import { costOf, priceOf, type CostOf } from '../../../core/cost/prices';
import { parseThinkingLevel, type ModelInfo } from '../../../core/models/modelInfo';
import { oneLine, unmarked } from '../../../core/frames/frames';
import type { ModelBlock, ModelRequest } from '../../../core/models/modelRequest';
import type { ModelClient } from '../../../core/ports';
import { createMemoryTool } from '../../../core/memory/memoryTool';
import { offlineProvider } from '../../../core/recall/history';
import { createRecallTool } from '../../../core/recall/recallTool';
import type { StoredEntry } from '../../../core/session/entry';
import type { Session } from '../../../core/session/session';
import { createTodoTool } from '../../../core/todo/todoTool';
import { createAsideTool } from '../../../core/aside/asideTool';
import { toSpec, ToolBox } from '../../../core/tools/toolBox';
import { cacheText, segmentLabels, thresholdText } from '../../../protocol/contextText';
import { WorkerAnalyst } from '../../analysis/workerAnalyst';
import { workspaceNotes } from '../../memory/workspaceNotes';
import { cacheRules, fallbackModel, modelFromTable } from '../../models/modelTable';
import { newSeal, UuidV7 } from '../../runtime/ids';
import { systemClock } from '../../runtime/systemClock';
import { openStore } from '../../store/client/openStore';
import { WorkerTokenCounter } from '../../tokens/workerTokenCounter';
import { flagHelp, parseFlags, positiveInteger, splitWords, UsageError, type FlagSpec } from '../flags';
import { plainText, stderrLogger } from '../terminal';
import { sessionNamed } from '../storeFlags';
import { allowedTools, toolFlags, toolWorkspace, workspaceToolsOf } from '../toolFlags';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', required: true, help: 'folder of the history' },
  { name: 'model', value: 'MODEL', help: 'model that would be asked; default: the one that answered last' },
  { name: 'policy', value: 'POLICY', choices: presetNames, help: 'as if the session had this policy; default: its own, else balanced' },
  {
    name: 'window',
    value: 'TOKENS',
    help: "use at most this much of the model's window; has to be given for a model that is not in the table",
  },
  ...toolFlags,
  { name: 'json', help: 'one JSON object: snapshot (the breakdown) and request (system, tools, messages)' },
];

export const contextHelp = `threadkeeper context <session>: what the model would be sent now, with its breakdown.

${flagHelp(specs)}

The session is named by its id (YYYYMMDD_NNN) or its uuid. Nothing is sent and nothing is written; the store may be in use: a copy is
read. What the next turn would add stands at the end: its message takes the place of the last block, which only asks to continue, and
notes of the program may stand in front of it. Say with --workspace, --allow-tools and --window what run is told. Window sizes come
from a table, not from the provider. Exit code 2 for a command line that cannot be run, 1 when the store cannot be read or the session
does not exist.`;

/** A model that is not in the table is taken to give as much as a policy wants at most. */
const unknownMaxOutput = 8_192;

/** The user's own prices are settings of VS Code, which are not read here. */
const builtInCost: CostOf = (provider, model, usage) => costOf(priceOf({}, provider, model), usage);

/** Resolves with the exit code. */
export async function context(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw new UsageError('Name one session.');
  const window = positiveInteger(flags, 'window');
  const allowTools = allowedTools(flags);
  const log = stderrLogger([]);
  const folder = flags['store']!;
  const store = await openStore({
    folder,
    workerFile: join(__dirname, 'storeWorker.js'),
    label: 'threadkeeper context',
    readonly: true,
    logger: log,
  });
  const counter = new WorkerTokenCounter(join(__dirname, 'tokenWorker.js'), log);
  const analyst = new WorkerAnalyst(join(__dirname, 'analystWorker.js'), log);
  try {
    const { uuid } = await sessionNamed(store, name);
    const branch = await BranchState.load({ store, counter, clock: systemClock, ids: new UuidV7(), costOf: builtInCost }, uuid);
    const info = modelInfo(
      flags['model'] === undefined ? answeredLast(branch.session, branch.entries) : { provider: 'anthropic', model: flags['model'] },
      window,
    );
    const own = [
      createMemoryTool(workspaceNotes(folder), () => undefined),
      createRecallTool({ store, session: () => uuid, newSeal }),
      createTodoTool(),
      ...workspaceToolsOf(toolWorkspace(flags, allowTools), allowTools),
      createAsideTool(null),
    ];
    const tools = new ToolBox(own, () => [], { store, branch, tokensOf: () => 0, budget: () => 0 }).current();
    const prompt = { system: systemPrompt(tools, instructionsOf(branch.entries), branch.frames), tools: tools.map(toSpec) };
    const asked = flags['policy'] === undefined ? branch.session.policy : { preset: flags['policy'] };
    const { policy } = resolveSessionPolicy({ preset: 'balanced', overrides: {} }, asked);
    const binding = bindingTo(info);
    const engine = new ContextEngine(branch, store, counter, prompt, policy, binding);
    // It knows what has been prepared for a return; here it does nothing.
    const ids = new UuidV7();
    const resting = { emit: () => undefined, whenFree: async () => undefined, memoryHead: async () => null, isIdle: () => false };
    const manager = new ContextManager({
      ...{ store, counter, clock: systemClock, ids, log, analyst, branch, engine },
      ...resting,
      pinnedFiles: null,
      tell: () => undefined,
    });
    await engine.use(binding, policy, parseThinkingLevel(branch.session.thinkingLevel));
    await engine.countPrompt();
    await branch.settleCounts();
    engine.recounted();
    manager.close();
    const result = { snapshot: engine.snapshot(systemClock.now()), request: await engine.request() };
    process.stdout.write(`${flags['json'] === undefined ? forPeople(result.snapshot, result.request) : JSON.stringify(result)}\n`);
    return 0;
  } finally {
    counter.dispose();
    analyst.dispose();
    await store.close();
  }
}

interface NamedModel {
  readonly provider: string;
  readonly model: string;
}

/** Who would be asked next: whoever answered last, nobody having chosen another. */
function answeredLast({ model }: Session, entries: readonly StoredEntry[]): NamedModel {
  const last = entries.findLast(
    ({ content }) =>
      content.type === 'model_change' ||
      (content.type === 'message' && content.role === 'assistant' && content.provider !== offlineProvider),
  )?.content;
  if ((last?.type === 'message' || last?.type === 'model_change') && last.model !== undefined)
    return { provider: last.provider ?? 'anthropic', model: last.model };
  return { provider: 'anthropic', model: model?.replace(/^anthropic\//, '') ?? fallbackModel };
}

/** Throws `UsageError` when nobody has said how much a model takes that is not in the table. */
function modelInfo({ provider, model }: NamedModel, window: number | undefined): ModelInfo {
  const known = modelFromTable(provider, model);
  if (known) return window === undefined ? known : { ...known, window: Math.min(known.window, window) };
  if (window === undefined)
    throw new UsageError(`The size of the window of "${model}" is not known. Give it with --window, or name another model with --model.`);
  return { provider, id: model, name: model, window, maxOutput: unknownMaxOutput, source: 'table' };
}

/** They are what was given here: what an imported session calls so are nobody's instructions. */
function instructionsOf(entries: readonly StoredEntry[]): string {
  const last = entries.findLast(({ content, sourceId }) => content.type === 'instructions_change' && typeof sourceId !== 'string')?.content;
  return last?.type === 'instructions_change' ? last.text : '';
}

/** Somebody to size a prompt for; is never asked anything. */
function bindingTo(info: ModelInfo): ModelBinding {
  const client: ModelClient = {
    provider: info.provider,
    generates: true,
    ...(info.provider === 'anthropic' ? { cacheRules } : {}),
    async *stream() {
      yield { type: 'failed', failure: { reason: 'no_key', detail: '' } };
    },
    listModels: async () => [info],
    describe: async () => info,
  };
  return { client, info, summarizer: null };
}

function forPeople(snapshot: ContextSnapshot, request: ModelRequest): string {
  const tokens = (value: number) => value.toLocaleString('en');
  const percent = (value: number) => `${Math.round((value / snapshot.effective) * 1000) / 10}%`;
  return [
    `${snapshot.sessionId}  ${snapshot.model}  policy ${snapshot.policy}`,
    `${snapshot.provenance === 'estimated' ? '~' : ''}${tokens(snapshot.used)} of ${tokens(snapshot.effective)} tokens (${percent(snapshot.used)}), limit ${tokens(snapshot.limit)}`,
    ...snapshot.segments
      .filter((segment) => segment.tokens > 0)
      .map((segment) => `  ${segmentLabels[segment.kind]().padEnd(24)} ${tokens(segment.tokens).padStart(10)}`),
    ...snapshot.thresholds.map((threshold) => `  ${thresholdText(threshold)}`),
    `  ${cacheText(snapshot.cache)}`,
    '',
    '=== system',
    shown(request.system),
    ...(request.systemSummary === undefined ? [] : ['', '=== system, summary', shown(request.systemSummary)]),
    '',
    `=== tools: ${request.tools.map((tool) => oneLine(tool.name)).join(', ')}`,
    ...request.messages.flatMap(({ role, blocks, cacheBreakpoint }) => [
      '',
      `=== ${role}${cacheBreakpoint ? ' (cached up to here)' : ''}`,
      ...blocks.map(blockText),
    ]),
  ].join('\n');
}

/** Nothing in a text passes for a heading of ours. */
function shown(text: string): string {
  return unmarked('===', plainText(text));
}

function blockText(block: ModelBlock): string {
  switch (block.type) {
    case 'text':
      return shown(block.text);
    case 'image':
      return `[image] ${shown(block.name)}`;
    case 'thinking':
      return `[thinking] ${shown(block.text)}`;
    case 'tool_use':
      return `[calls ${block.name} as ${block.callId}] ${shown(JSON.stringify(block.input))}`;
    case 'tool_result':
      return `[${block.isError ? 'error' : 'result'} of ${block.callId}] ${shown(block.text)}`;
  }
}
