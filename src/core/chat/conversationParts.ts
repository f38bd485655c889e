import { createAsideTool } from '../aside/asideTool';
import { Emitter } from '../base/event';
import { ContextManager } from '../context/contextManager';
import { ContextEngine, type ModelBinding } from '../context/engine';
import { ContextMeter, leastCost } from '../context/measure/contextMeter';
import { sumOf, SessionLimit } from '../cost/spending';
import { onDemandShare, ToolBox, toSpec } from '../tools/toolBox';
import type { BranchState } from './branchState';
import type { ConversationDeps } from './conversationDeps';
import type { ConversationEvent } from './events';
import { SharedSession } from './sharedSession';
import { Approvals } from './turn/approvals';
import { systemPrompt } from './turn/systemPrompt';

/** What a conversation is put together from. */
export interface ConversationParts {
  readonly events: Emitter<ConversationEvent>;
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly context: ContextManager;
  readonly toolBox: ToolBox;
  readonly meter: ContextMeter;
  readonly shared: SharedSession;
  readonly approvals: Approvals;
  readonly limit: SessionLimit;
}

/** What the parts ask of the conversation that they become; none of it before it is there. */
interface Whole {
  isBusy(): boolean;
  branchChanged(replaced: boolean): void;
  modelChanged(): void;
  abort(): void;
  whenFree(run: () => Promise<void>): Promise<void>;
}

/** At once: what another window does once `shared` listens must find the whole. */
export function conversationParts(deps: ConversationDeps, branch: BranchState, fallback: ModelBinding, whole: Whole): ConversationParts {
  const events = new Emitter<ConversationEvent>();
  const emit = (event: ConversationEvent) => events.fire(event);
  const shared = new SharedSession({
    ...deps,
    branch,
    emit,
    branchChanged: (replaced) => whole.branchChanged(replaced),
    modelChanged: () => whole.modelChanged(),
    stop: () => whole.abort(),
  });
  const approvals = new Approvals(deps.approvalRule, emit);
  const aside = createAsideTool(() => ({ ...deps, branch, engine, toolBox, approvals, emit }));
  const own = [...deps.tools(emit), ...(deps.sideQuestions ? [aside] : [])];
  const engine = new ContextEngine(
    branch,
    deps.store,
    deps.counter,
    { system: systemPrompt(own, deps.instructions(), branch.frames), tools: own.map(toSpec) },
    deps.policy(branch.session),
    fallback,
  );
  const toolBox = new ToolBox(own, deps.otherTools, {
    store: deps.store,
    branch,
    tokensOf: engine.estimate,
    budget: () => engine.budget.effective * onDemandShare,
  });
  engine.useTools(toolBox.current().map(toSpec));
  const canWrite = () => deps.store.status.access !== 'readonly';
  const context = new ContextManager({
    ...deps,
    branch,
    engine,
    emit,
    whenFree: (run) => whole.whenFree(run),
    isIdle: () => !whole.isBusy() && !shared.isElsewhere && canWrite(),
    tell: () => meter.tell(),
  });
  const meter = new ContextMeter({ ...deps, branch, engine, emit, canWrite });
  const limit = new SessionLimit({
    limit: () => branch.session.costLimit,
    spent: async () => sumOf(await deps.store.usageTotals({ session: branch.session.uuid })).cost,
    ahead: () => leastCost(branch, engine, deps.clock.now()),
  });
  return { events, branch, engine, context, toolBox, meter, shared, approvals, limit };
}
