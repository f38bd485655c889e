import type { HandedStep } from './handedStep';
import type { HandoverFile, HandoverInput, OpencodeModel } from './handoverFile';

/** The version that has imported files of this form. */
const version = '1.18.33';
const tokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
/** It asks for a model with every message; of these its user may have chosen another since. */
const someModel = { providerID: 'anthropic', modelID: 'claude-sonnet-4-5' };

/** What `opencode export` writes of a session, for `opencode import`. Its ids sort by time: those of what is said next come behind. */
export function opencodeExport({ history, cwd, title, now, model, id }: HandoverInput): HandoverFile {
  const ids = new OpencodeIds(now, id);
  const session = ids.session();
  const records: Record<string, string> = {};
  const messages: object[] = [];
  let parentID = '';
  for (const step of history.steps) {
    const messageID = ids.next('msg');
    const own = { sessionID: session, messageID };
    const parts: object[] = [];
    const add = (part: object, entry: string): string => {
      const part_ = ids.next('prt');
      parts.push({ id: part_, ...own, ...part });
      records[part_] = entry;
      return part_;
    };
    if (step.text !== '') add({ type: 'text', text: step.text, time: { start: step.at, end: step.at } }, step.entry);
    for (const call of step.calls) {
      const { text, isError, entry } = call.result;
      const time = { start: call.at, end: call.at };
      const state = isError
        ? { status: 'error', input: call.input, error: text, time }
        : { status: 'completed', input: call.input, output: text, title: call.name, metadata: {}, time };
      records[`${add({ type: 'tool', callID: call.id, tool: call.name, state }, call.entry)}/result`] = entry;
    }
    messages.push({ info: infoOf(step, messageID, { session, parentID, cwd, model: model ?? someModel }), parts });
    if (step.role === 'user') parentID = messageID;
  }
  const info = {
    id: session,
    slug: session.slice(-8).toLowerCase(),
    projectID: 'global',
    directory: cwd,
    title: title || 'Threadkeeper',
    version,
    time: { created: now, updated: now },
  };
  return { path: `${session}.json`, text: `${JSON.stringify({ info, messages }, null, 1)}\n`, session, records };
}

interface InfoOf {
  readonly session: string;
  readonly parentID: string;
  readonly cwd: string;
  readonly model: OpencodeModel;
}

function infoOf({ role, at, calls }: HandedStep, id: string, { session: sessionID, parentID, cwd, model }: InfoOf): object {
  if (role === 'user') return { id, sessionID, role, time: { created: at }, agent: 'build', model };
  return {
    id,
    sessionID,
    role,
    time: { created: at, completed: at },
    parentID,
    ...model,
    mode: 'build',
    agent: 'build',
    path: { cwd, root: cwd },
    cost: 0,
    tokens,
    finish: calls.length > 0 ? 'tool-calls' : 'stop',
  };
}

/** Six bytes of time and a counter, then letters that tell them apart; sessions count down, so that the newest comes first. */
class OpencodeIds {
  private count = 0n;

  constructor(
    private readonly now: number,
    private readonly id: () => string,
  ) {}

  session(): string {
    return `ses_${this.tail(~this.time())}`;
  }

  next(kind: 'msg' | 'prt'): string {
    this.count++;
    return `${kind}_${this.tail(this.time())}`;
  }

  private time(): bigint {
    return BigInt(this.now) * 0x1000n + this.count;
  }

  private tail(time: bigint): string {
    return BigInt.asUintN(48, time).toString(16).padStart(12, '0') + this.id().replaceAll('-', '').slice(-14);
  }
}
