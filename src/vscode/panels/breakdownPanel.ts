import type { Uri, WebviewPanel } from 'vscode';
import type { Conversation } from '../../core/chat/conversation';
import type { Disposable } from '../../core/base/disposable';
import { DisposableStore } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import type { PanelRequest, PanelState } from '../../protocol/panels';
import { breakdownState, noBreakdown, readHistory, withEntry, withUsage, type BranchHistory } from './breakdownState';
import type { ContextCommands } from '../context/contextCommands';
import type { ChatPlace, ChatPlaces } from '../chat/places/chatPlaces';
import { breakdownPanelType } from '../manifest';
import { PanelPage } from './panelPage';
import type { StoreAccess } from '../history/storeAccess';

export interface BreakdownActions {
  readonly context: Pick<
    ContextCommands,
    'compactNow' | 'checkpoint' | 'undoCompaction' | 'pinTarget' | 'unpinTarget' | 'setExcluded' | 'compare'
  >;
  /** Shows an entry of the open session in the Chat view, or beside it. */
  goTo(session: string, entry: string): Promise<void>;
}

export interface BreakdownPanelDeps {
  readonly extensionUri: Uri;
  readonly places: Pick<ChatPlaces, 'all' | 'current' | 'onDidChangeState'>;
  readonly store: StoreAccess;
  readonly actionsAt: (place: ChatPlace) => BreakdownActions;
  readonly log: Logger;
}

/**
 * What is in the context window of a session, and how it came to be. Follows the chat from which it was opened; the one in use when
 * that is closed.
 */
export class BreakdownPanel implements Disposable {
  private readonly disposables = new DisposableStore();
  private page: PanelPage | null = null;
  private shownAt: ChatPlace | null = null;
  private followed: { readonly conversation: Conversation; readonly subscription: Disposable } | null = null;
  /** It belongs to the conversation that is followed; null means that it has to be read (again). */
  private history: BranchHistory | null = null;
  /** It counts the changes of what is known of the conversation. */
  private revision = 0;

  constructor(private readonly deps: BreakdownPanelDeps) {
    this.disposables.add(deps.places.onDidChangeState(() => this.page?.refresh()));
  }

  /** After a reload of the window. */
  restore(panel: WebviewPanel): void {
    if (this.page) panel.dispose();
    else this.open(panel);
  }

  show(place: ChatPlace): void {
    this.shownAt = place;
    if (!this.page) return this.open();
    this.page.reveal();
    this.page.refresh();
  }

  dispose(): void {
    this.page?.dispose();
    this.closed();
    this.disposables.dispose();
  }

  private open(restored?: WebviewPanel): void {
    const { extensionUri, log } = this.deps;
    this.page = new PanelPage({
      restored,
      extensionUri,
      viewType: breakdownPanelType,
      title: t('Context Breakdown'),
      state: () => this.state(),
      handle: (request) => this.handle(request),
      closed: () => this.closed(),
      log,
    });
  }

  private get place(): ChatPlace {
    const { all, current } = this.deps.places;
    return (this.shownAt = this.shownAt && all.includes(this.shownAt) ? this.shownAt : current);
  }

  private async state(): Promise<PanelState> {
    const { store: access } = this.deps;
    const { controller } = this.place;
    const conversation = await controller.active.conversation();
    if (!conversation) return noBreakdown;
    const store = await access.get();
    this.follow(conversation);
    await conversation.whole();
    const { revision } = this;
    const history = this.history ?? (await readHistory(store, conversation.session.uuid));
    // What has happened while it was read may be missing.
    if (revision === this.revision) this.history = history;
    return breakdownState(conversation, history, { busy: controller.state.busy, readonly: store.status.access === 'readonly' });
  }

  private async handle(request: PanelRequest): Promise<string | null | void> {
    const { place } = this;
    const { controller } = place;
    const actions = this.deps.actionsAt(place);
    switch (request.method) {
      case 'compact':
        return actions.context.compactNow();
      case 'checkpoint':
        return actions.context.checkpoint();
      case 'undo_compaction':
        return actions.context.undoCompaction();
      case 'jump':
        if (controller.active.session) await actions.goTo(controller.active.session.uuid, request.id);
        return;
      case 'pin':
        await actions.context.pinTarget({ kind: 'entry', target: request.id });
        return;
      case 'unpin':
        return actions.context.unpinTarget({ kind: 'entry', target: request.id });
      case 'exclude':
      case 'include':
        return actions.context.setExcluded(request.id, request.method === 'exclude');
      case 'compare':
        return actions.context.compare(request.id);
      case 'filter':
      case 'open_session':
        throw new Error(t('This panel cannot do that.'));
    }
  }

  private follow(conversation: Conversation): void {
    if (this.followed?.conversation === conversation) return;
    this.unfollow();
    const subscription = conversation.onDidEmit((event) => {
      this.revision++;
      if (event.type === 'branch_replaced' || !this.history) this.history = null;
      else if (event.type === 'entry_appended') this.history = withEntry(this.history, event.entry);
      else if (event.type === 'usage_reported' && event.kind === 'turn' && !event.usage.estimated)
        this.history = withUsage(this.history, event.usage);
    });
    this.followed = { conversation, subscription };
  }

  private unfollow(): void {
    this.followed?.subscription.dispose();
    this.followed = null;
    this.history = null;
  }

  private closed(): void {
    this.page = null;
    this.unfollow();
  }
}
