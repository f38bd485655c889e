import type { CompactionResult } from '../../../core/chat/events';
import { mkdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Conversation } from '../../../core/chat/conversation';
import type { ConversationDeps } from '../../../core/chat/conversationDeps';
import { ModelError } from '../../../core/models/modelEvent';
import type { WhenFullAnswer } from '../../../core/chat/turn/turn';
import { modelTurnError, wholeError } from '../../../core/chat/turn/turnError';
import { errorText, StoreError } from '../../../core/errors';
import { costOf, priceOf } from '../../../core/cost/prices';
import type { Session } from '../../../core/session/session';
import { openStore } from '../../store/client/openStore';
import { conversationDeps } from '../../runtime/conversationDeps';
import { ModelBindings } from '../../runtime/modelBindings';
import { systemClock } from '../../runtime/systemClock';
import { UuidV7 } from '../../runtime/ids';
import { WorkerAnalyst } from '../../analysis/workerAnalyst';
import { workspaceNotes } from '../../memory/workspaceNotes';
import { findSkills } from '../../skills/findSkills';
import { instructionsText, readInstructionFiles } from '../../memory/instructionFiles';
import { CommandRunner } from '../../tools/commandRunner';
import { DiskWorkspace } from '../../tools/diskWorkspace';
import { WorkerTokenCounter } from '../../tokens/workerTokenCounter';
import { WorkspacePassages } from '../../../core/recall/workspacePassages';
import { OfflineModel } from '../../../core/offline/offlineModel';
import { headlessRule } from '../../../core/tools/approvalRule';
import { flagHelp, parseFlags, UsageError, type Flags, type FlagSpec } from '../flags';
import { contextCommand } from './contextCommands';
import { embeddingFlags, embeddingKeyHelp, embeddingsOf } from '../embeddingFlags';
import { parseProviderFlags, providerFlags } from '../providerFlags';
import { openSession, parseSessionFlags, sessionFlags } from '../run/sessionFlags';
import { converseWithoutHistory } from '../run/withoutHistory';
import { inputLines, parseRunCommand, toOutputLine, type RunCommand, type OutputLine } from '../run/runLines';
import { stderrLogger } from '../terminal';
import { fileRecorder } from '../../rewind/fileRecorder';
import { allowedTools, toolFlags, toolWorkspace, workspaceToolsOf } from '../toolFlags';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', help: 'folder of the history; made when it does not exist (required but with --no-history)' },
  ...sessionFlags,
  { name: 'no-history', help: 'every line is a question that stands alone: no history is loaded, and none is stored' },
  ...providerFlags,
  {
    name: 'when-full',
    value: 'ANSWER',
    choices: ['summarize', 'truncate', 'continue'],
    help: 'what happens when the context is full, instead of what the policy says',
  },
  ...toolFlags,
  ...embeddingFlags,
  {
    name: 'recall-hints',
    value: 'CHOICE',
    choices: ['on', 'off'],
    help: 'whether the model is told where to read what a message clearly refers to; default: on',
  },
  {
    name: 'workspace-instructions',
    help: 'adds what AGENTS.md and .github/copilot-instructions.md of the workspace say to the standing instructions',
  },
  {
    name: 'skills',
    value: 'DIR',
    help: 'offers the skills in this folder: Markdown files with a name and a description, or SKILL.md in sub-folders',
  },
  { name: 'json', help: 'changes nothing: every line is JSON' },
];

/** What a question that stands alone can be given; a store that is named stays as it is. */
const aloneFlags: ReadonlySet<string> = new Set([...providerFlags.map(({ name }) => name), 'store', 'no-history', 'json']);

/** Model steps with calls in one turn. */
const mostRounds = 50;

export const runHelp = `threadkeeper run: one conversation on standard input and output, a JSON object a line.

${flagHelp(specs)}

The key is read from ANTHROPIC_API_KEY, for openai-compatible from OPENAI_API_KEY (servers without keys need none).
${embeddingKeyHelp}
Commands:  {"cmd":"send","id":1,"text":"…"}  {"cmd":"compact"}  {"cmd":"undo_compaction"}  {"cmd":"stop"}
           {"cmd":"preview"}  {"cmd":"summary"}  {"cmd":"edit_summary","text":"…"}  {"cmd":"resummarize","instructions":"…"}
           {"cmd":"checkpoint"}  {"cmd":"pin","kind":"text|entry|file","target":"…"}  {"cmd":"unpin",…}  {"cmd":"pins"}
Events:    ready, turn_started, text_delta, thinking_delta, tool_call, tool_output, tool_result, approval, nudge, memory, checkpoint,
           full, compaction, retry, usage, context, queue, done; each has a "type".
Answers:   done (send), compaction with phase "end" (compact), undone (undo_compaction), preview, summary, summary_replaced (edit_summary,
           resummarize), checkpoint_written (checkpoint), pins (pin, unpin, pins), error (a line that cannot be read, with its id)
End of input ends the program after the running turn. Exit code 0; 2 for a command line that cannot be run, 1 when the store or the
session cannot be opened.`;

/** Runs until standard input ends; resolves with the exit code. Events go to standard output, the log to standard error. */
export async function run(args: readonly string[]): Promise<number> {
  // V8 looks for garbage earlier, in this thread and in those it starts. Measured over 70 turns: 155 instead of 181 MB, in the same time.
  setFlagsFromString('--optimize-for-size');
  const flags = parseFlags(args, specs);
  if (flags['no-history'] !== undefined) {
    const other = specs.find(({ name }) => flags[name] !== undefined && !aloneFlags.has(name));
    if (other) throw new UsageError(`--${other.name} and --no-history exclude each other.`);
    return converseWithoutHistory(flags, write);
  }
  if (flags['store'] === undefined) throw new UsageError('--store is missing: folder of the history');
  return withConversation('run', flags, converse);
}

/** Opens the session that the flags name, or a new one, and everything around it. Resolves with what `work` resolves with. */
export async function withConversation(
  label: string,
  flags: Flags,
  work: (conversation: Conversation) => Promise<number>,
): Promise<number> {
  const whenFull = flags['when-full'];
  const { choice, reach, secrets } = parseProviderFlags(flags, process.env);
  const log = stderrLogger(secrets);
  const allowTools = allowedTools(flags);
  const wishes = parseSessionFlags(flags);
  if (flags['workspace-instructions'] && !flags['workspace'])
    throw new UsageError('--workspace-instructions needs --workspace DIR: the folder whose files are meant.');
  const folders = () => (flags['workspace'] ? [flags['workspace']] : []);
  const folder = flags['store']!;
  const embeddings = embeddingsOf(flags, process.env, log);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new StoreError('io', `--store ${folder} cannot be a folder for the history: ${errorText(error)}`);
  });
  const store = embeddings.searching(
    await openStore({ folder, workerFile: join(__dirname, 'storeWorker.js'), label: `threadkeeper ${label}`, logger: log }),
  );
  if (flags['embeddings'] !== undefined) embeddings.follow(store);
  const counter = new WorkerTokenCounter(join(__dirname, 'tokenWorker.js'), log);
  const analyst = new WorkerAnalyst(join(__dirname, 'analystWorker.js'), log);
  try {
    if (store.status.access === 'readonly')
      throw new StoreError(
        'readonly',
        `${folder} can only be read, so no conversation can be held in it. ${store.status.note?.detail ?? ''}`,
      );
    let session: Session | null = null;
    const notes = workspaceNotes(folder);
    const files = flags['workspace']
      ? new WorkspacePassages({
          workspace: new DiskWorkspace([resolve(flags['workspace'])], new CommandRunner()),
          clock: systemClock,
          mayRead: () => true,
        })
      : null;
    const offline = new OfflineModel({ store, notes, files, session: () => session?.uuid ?? null });
    const bindings = new ModelBindings({ offline, log, reach });
    // Before a session is made: a model that nobody knows leaves nothing behind.
    const fallback = await bindings.resolve(choice).catch((error: unknown) => {
      if (ModelError.is(error)) throw new UsageError(wholeError(modelTurnError(error.failure, flags['model']!)));
      throw error;
    });
    const opened = await openSession(store, wishes);
    session = opened.session;
    if (opened.restored) process.stderr.write(`${session.id} was in the trash: it has been restored.\n`);
    // Once, so that the prompt of the session stays as it begins.
    const instructions = flags['workspace-instructions'] ? instructionsText(await readInstructionFiles(folders())) : '';
    const skills = flags['skills'] === undefined ? [] : await findSkills({ folders: [resolve(flags['skills'])], workspace: [] }, log);
    const workspace = toolWorkspace(flags, allowTools);
    const recorder = workspace && fileRecorder({ store, workspace, log });
    const deps: ConversationDeps = conversationDeps({
      store,
      counter,
      notes,
      log,
      session: session.uuid,
      approvalRule: (question) => headlessRule(question, allowTools),
      maxRounds: () => mostRounds,
      recallHints: () => flags['recall-hints'] !== 'off',
      tools: () => workspaceToolsOf(recorder?.workspace ?? null, allowTools),
      ...(recorder ? { recorder } : {}),
      instructions: () => instructions,
      skills,
      askWhenFull: async () => (whenFull as WhenFullAnswer | undefined) ?? 'summarize',
      policy: () => ({ preset: 'balanced', overrides: whenFull === undefined ? {} : { 'compaction.whenFull': 'ask' } }),
      costOf: (provider, model, usage) => costOf(priceOf({}, provider, model), usage),
      resolveModel: () => bindings.resolve(choice),
      analyst,
      folders: () => folders().map((root) => ({ name: basename(root), root })),
    });
    const conversation = await Conversation.open(deps, session.uuid, fallback);
    return await work(conversation);
  } finally {
    embeddings.dispose();
    counter.dispose();
    analyst.dispose();
    await store.close();
  }
}

async function converse(conversation: Conversation): Promise<number> {
  const ids = new Map<string, unknown>();
  const idSource = new UuidV7();
  conversation.onDidEmit((event) => {
    const line = toOutputLine(event, (id) => (ids.has(id) ? ids.get(id) : id));
    if (line) write(line);
  });
  const { session } = conversation;
  const { queued } = conversation;
  write({
    type: 'ready',
    sessionId: session.id,
    uuid: session.uuid,
    key: session.key,
    title: session.title,
    resumed: session.leaf !== null,
    metadata: session.metadata,
    costLimit: session.costLimit,
    ...(queued.length > 0 ? { queued } : {}),
  });
  write({ type: 'context', ...conversation.snapshot });
  const running: Promise<unknown>[] = [conversation.resumeQueue()];
  for await (const line of inputLines(process.stdin)) {
    if (line.trim() === '') continue;
    const parsed = parseRunCommand(line);
    if ('error' in parsed) write({ type: 'error', ...(parsed.id === undefined ? {} : { id: parsed.id }), message: parsed.error });
    else running.push(perform(conversation, parsed.command, ids, idSource));
  }
  await Promise.all(running);
  conversation.dispose();
  return 0;
}

async function perform(conversation: Conversation, command: RunCommand, ids: Map<string, unknown>, idSource: UuidV7): Promise<void> {
  switch (command.cmd) {
    case 'send': {
      const id = idSource.next();
      ids.set(id, command.id ?? id);
      const outcome = await conversation.send(command.text, id);
      // Turns that were never begun have no event of their own.
      if (!outcome.begun) write({ type: 'done', id: ids.get(id), ok: false, text: '', error: outcome.error });
      return;
    }
    case 'compact': {
      let told: CompactionResult | null = null;
      const listening = conversation.onDidEmit((event) => {
        if (event.type === 'compaction_ended') told = event;
      });
      const result = await conversation.compact(command.instructions ?? null).finally(() => listening.dispose());
      // One that was never begun has no event of its own.
      if (!result.entry && (told as CompactionResult | null)?.message !== result.message)
        write({ type: 'compaction', phase: 'end', ok: false, message: result.message });
      return;
    }
    case 'undo_compaction': {
      const { message } = await conversation.undoCompaction();
      write({ type: 'undone', ok: message === null, ...(message ? { message } : {}) });
      return;
    }
    case 'stop':
      await conversation.stop();
      return;
    default:
      write(
        await contextCommand(conversation, command).catch((error: unknown): OutputLine => ({ type: 'error', message: errorText(error) })),
      );
  }
}

function write(line: OutputLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Commands that say nothing of damage themselves. */
const reads = new Set(['run', 'sessions', 'show', 'search', 'context', 'compact', 'stats', 'import', 'export', 'clean-up', 'watch']);

/** What went wrong, for a person at a terminal. */
export function explain(error: unknown, command: string): { readonly text: string; readonly code: number } {
  if (error instanceof UsageError) return { text: `${error.message}\nthreadkeeper ${command} --help lists the flags.`, code: 2 };
  if (StoreError.is(error) && error.reason === 'corrupt' && reads.has(command))
    return { text: `${error.message}\nthreadkeeper verify says what is damaged; with --repair it rebuilds the history.`, code: 1 };
  return { text: errorText(error), code: 1 };
}
