import * as z from 'zod/mini';
import { toSpec, type ToolBox } from '../tools/toolBox';
import { skillToolName } from '../skills/skill';
import type { ContextEngine } from '../context/engine';
import type { BranchState } from '../chat/branchState';
import type { ConversationEvent } from '../chat/events';
import type { Approvals } from '../chat/turn/approvals';
import { runTool, type ToolCallEntry } from '../chat/turn/toolRun';
import type { Clock } from '../ports';
import { CancelledError } from '../errors';
import { ToolFault, toolInput, type Tool } from '../tools/tool';
import { asideToolName, transcriptOf } from './asideText';
import { SeenImages } from './seenImages';
import { askSideQuestion, type SideStep } from './sideQuestion';

/** A conversation as a side question needs it; asked for when one is put. */
export interface AsideSource {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly approvals: Approvals;
  /** What the model may call now. */
  readonly toolBox: Pick<ToolBox, 'current'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly emit: (event: ConversationEvent) => void;
}

const input = z.object({ question: z.string().check(z.minLength(1), z.maxLength(8_000)) });

/** Tokens that the prompt of a side question may grow to: the window is as large as that of the conversation, and paid for alike. */
const mostTokens = 60_000;
const windowShare = 0.6;
/** A side question reads for as long as it takes, and its user may be away while it asks; this only ends one that hangs. */
const timeoutMs = 86_400_000;

const description =
  'Have a question answered in a context of its own, when the answer takes more reading than you need afterwards: many files, long results, a search through the workspace or the history. ' +
  'Whoever answers sees nothing of this conversation and can only read, so say all that matters. You get a short answer with the places where it stands; what was read does not fill this conversation. Several can be asked at once.';

/**
 * The tool by which the model has a side question answered. What was read stays with the call, in the history, and in no prompt. Null:
 * it is listed only.
 */
export function createAsideTool(source: (() => AsideSource) | null): Tool {
  return {
    name: asideToolName,
    description,
    inputSchema: {
      type: 'object',
      properties: { question: { type: 'string', description: 'All that has to be known to answer it.' } },
      required: ['question'],
      additionalProperties: false,
    },
    access: 'read',
    timeoutMs,
    async run(value, signal, run) {
      const { question } = toolInput(input, value);
      if (!source) throw new ToolFault('No model can be asked now.');
      const { branch, engine, approvals, toolBox, clock, random, emit } = source();
      const { client, info } = engine.binding;
      const call = run?.call;
      if (!client.generates || call === undefined) throw new ToolFault('No model can be asked now.');
      const tools = toolBox.current().filter(({ access, name }) => access === 'read' && name !== asideToolName && name !== skillToolName);
      const steps: SideStep[] = [];
      let paidAt = 0;
      let cost: number | null = 0;
      const used = { input: 0, output: 0 };
      const answer = await askSideQuestion(
        question,
        {
          client,
          model: info.id,
          maxOutputTokens: engine.budget.outputTokens,
          tools: tools.map(toSpec),
          budget: Math.min(mostTokens, Math.floor(engine.budget.limit * windowShare)),
          estimate: engine.estimate,
          clock,
          random,
          call: async (use, stop) => {
            const seen = new SeenImages(use.callId);
            const { text, status, attachments } = await runTool(
              callEntry(call, use, branch, clock),
              { tools, approvals, clock, emit: silent, tell: () => undefined, store: seen },
              stop,
            );
            return { text, status, images: seen.of(attachments ?? []) };
          },
          said: (step) => {
            steps.push(step);
            if (step.type === 'call') run?.onOutput(`${step.name} ${JSON.stringify(step.input)}\n`);
          },
          spent: async (usage, at) => {
            // A request is known by its time, and several may be asked in one millisecond.
            paidAt = Math.max(at, paidAt + 1);
            const price = branch.costOf(info.provider, info.id, usage);
            cost = cost === null || price === null ? null : cost + price;
            used.input += usage.input + usage.cacheRead + usage.cacheWrite;
            used.output += usage.output;
            await branch.spend([{ entry: call, provider: info.provider, model: info.id, kind: 'aside', ...usage, cost: null, at: paidAt }]);
            emit({ type: 'usage_reported', model: info.id, usage, kind: 'aside', cost: price });
          },
        },
        signal,
      );
      const { outcome, text, failure, requests, calls, read } = answer;
      const entry = await branch.append(
        {
          type: 'side_question',
          question,
          text: transcriptOf(question, steps),
          outcome,
          provider: info.provider,
          model: info.id,
          requests,
          calls,
          read,
          ...used,
          cost,
        },
        { display: true, modelFacing: false, parent: call },
      );
      emit({ type: 'entry_appended', entry });
      if (outcome === 'stopped') throw new CancelledError();
      if (failure)
        throw new ToolFault(`The side question was not answered (${failure.reason}).${text.trim() === '' ? '' : ` So far: ${text}`}`);
      return text.trim() === '' ? { text: 'The side question ended without an answer.', status: 'error' } : { text, status: 'ok' };
    },
  };
}

/** What the tools of a side question print is not shown: the row of the call says what they are called with. */
function silent(): void {}

/** A call that is no entry: the user's answer to what it asks stands at the call that put the question. */
function callEntry(
  uuid: string,
  { callId, name, input: given }: { readonly callId: string; readonly name: string; readonly input: unknown },
  branch: BranchState,
  clock: Clock,
): ToolCallEntry {
  return {
    uuid,
    session: branch.session.uuid,
    parent: null,
    createdAt: clock.now(),
    modelFacing: false,
    display: false,
    tokenEstimate: null,
    seq: 0,
    content: { type: 'tool_call', callId, name, input: given },
  };
}
