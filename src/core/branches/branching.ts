import { StoreError } from '../errors';
import { english } from '../l10n';
import type { SessionStore } from '../ports';
import type { Written } from '../session/userMessage';
import type { BranchTip } from './branch';
import { isUserMessage, type StoredEntry } from '../session/entry';
import type { BranchState } from '../chat/branchState';
import type { BranchSummaries } from './branchSummaries';
import { notBegun, type ConversationEvent, type Accepted, type SendOutcome } from '../chat/events';

export interface BranchingDeps {
  readonly store: Pick<SessionStore, 'entries' | 'branches' | 'commonAncestor' | 'page'>;
  readonly branch: BranchState;
  readonly emit: (event: ConversationEvent) => void;
  /** The branch in memory is another one. */
  readonly branchChanged: () => void;
  /**
   * A turn of its own, behind those that were asked for before; `begin` puts the branch where it starts from, its message included, and
   * calls `stored` as soon as that is on disk.
   */
  readonly turn: (
    id: string,
    message: Written | null,
    begin: (stored: () => void) => Promise<void>,
    accepted?: Accepted,
  ) => Promise<SendOutcome>;
  /** An operation that holds no turn; null: done, else why not, in words for the user. */
  readonly alone: (run: (stop: AbortSignal) => Promise<string | null>) => Promise<string | null>;
  readonly summaries: BranchSummaries;
}

/** Entries of a page of the transcript. */
export const transcriptPageSize = 80;

const gone = english('This message is not in the history of this session any more.');

/**
 * Other ways on from what has been said. Nothing is rewritten: an edited message and a repeated answer begin a branch beside the old
 * one, which stays in the tree, and the session's leaf moves. That is a declared prefix break; what is sent follows from the
 * entries of the branch alone.
 */
export class Branching {
  constructor(private readonly deps: BranchingDeps) {}

  /** Sends another text in the place of a user's message. The outcome is as that of `Conversation.send`. */
  edit(entry: string, text: string, id: string, accepted?: Accepted): Promise<SendOutcome> {
    if (text.trim() === '') return Promise.resolve(notBegun(id, { reason: 'invalid_request', message: english('The message is empty.') }));
    const begin = async (kept: () => void) => {
      const { branch, emit } = this.deps;
      const message = await this.find(entry);
      if (!isUserMessage(message)) throw new StoreError('invalid', english('Only a message of the user can be edited'));
      const before = branch.entries;
      const stored = await branch.branchOff(message.parent, { ...message.content, text }, { display: true, modelFacing: true }, kept);
      await this.replaced(stored.uuid);
      emit({ type: 'entry_appended', entry: stored });
      await this.deps.summaries.noteLeft(before);
    };
    return this.deps.turn(id, { text, attachments: [] }, begin, accepted);
  }

  /** Asks again for an answer to the user's message before `entry`, beside the answer that is there. */
  regenerate(entry: string, id: string, accepted?: Accepted): Promise<SendOutcome> {
    return this.deps.turn(id, null, async () => this.moveTo((await this.questionOf(entry)).uuid, false), accepted);
  }

  /** Every branch, the one that was used last first. Rejects with `StoreError`. */
  list(): Promise<BranchTip[]> {
    return this.deps.store.branches(this.deps.branch.session.uuid);
  }

  /** Goes to the newest end of the branches that lead through `entry`. Null when it is there, else why not. Never rejects. */
  switchTo(entry: string): Promise<string | null> {
    return this.deps.alone(async () => {
      const leaf = await this.endOf(entry);
      if (leaf === null) return gone;
      if (leaf !== this.deps.branch.leaf) await this.moveTo(leaf);
      return null;
    });
  }

  /** Where `switchTo` leads; null when it leads nowhere. Rejects with `StoreError`. */
  async endOf(entry: string): Promise<string | null> {
    for (const { leaf } of await this.list()) {
      if (leaf === entry || (await this.deps.store.commonAncestor(leaf, entry)) === entry) return leaf;
    }
    return null;
  }

  /** Where the conversation stands; null: before the first message. */
  get leaf(): string | null {
    return this.deps.branch.leaf;
  }

  /** Where the conversation stood before a message; null: nowhere yet. Rejects with `StoreError`. */
  async before(entry: string): Promise<string | null> {
    return (await this.find(entry)).parent;
  }

  /** Brings along what the branch that was left last came to. Null when it is done, else why not. Never rejects. */
  summarizeLeft(instructions: string | null): Promise<string | null> {
    return this.deps.alone((stop) => this.deps.summaries.summarize(instructions, stop));
  }

  /** The offer of a summary is declined. */
  forgetLeft(): void {
    this.deps.summaries.forget();
  }

  /** Names a turn; an empty label takes the name away. Rejects with `StoreError`. */
  async label(entry: string, label: string): Promise<void> {
    const { branch, emit } = this.deps;
    const mark = await branch.append(
      { type: 'label', target: entry, label: label.trim() },
      { display: true, modelFacing: false, parent: entry },
    );
    emit({ type: 'entry_appended', entry: mark });
  }

  /** Goes to a leaf, null: before the first message; the branch that was left stays. Null when it is done, else why not. Never rejects. */
  goTo(leaf: string | null): Promise<string | null> {
    return this.deps.alone(async () => {
      await this.moveTo(leaf === null ? null : (await this.find(leaf)).uuid);
      return null;
    });
  }

  /** Marks that were recorded on the branch from elsewhere. */
  marked(marks: readonly StoredEntry[]): void {
    for (const entry of marks) this.deps.emit({ type: 'entry_appended', entry });
  }

  /** `offers`: a summary of the branch that is left. Whoever asks for another answer goes nowhere else. */
  private async moveTo(leaf: string | null, offers = true): Promise<void> {
    const { branch, summaries } = this.deps;
    if (leaf === branch.leaf) return;
    const before = branch.entries;
    await branch.moveTo(leaf);
    await this.replaced();
    if (offers) await summaries.noteLeft(before);
  }

  /** Tells it with the page that takes the old one's place; `added` is told by whoever has added it. */
  private async replaced(added?: string): Promise<void> {
    const { store, branch, emit, branchChanged } = this.deps;
    await branch.settleCounts();
    branchChanged();
    const page = await store.page(branch.session.uuid, { limit: transcriptPageSize });
    emit({ type: 'branch_replaced', page: { ...page, entries: page.entries.filter(({ uuid }) => uuid !== added) } });
  }

  private async questionOf(entry: string): Promise<StoredEntry> {
    for (let at = await this.find(entry); ; at = await this.find(at.parent)) if (isUserMessage(at)) return at;
  }

  private async find(uuid: string | null): Promise<StoredEntry> {
    const [entry] = uuid === null ? [] : await this.deps.store.entries([uuid]);
    if (!entry) throw new StoreError('invalid', gone);
    return entry;
  }
}
