import { html, nothing, type TemplateResult } from 'lit';
import { RequestError } from '../../src/protocol/channel';
import { nothingWritten, type Attachment } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';
import type { Banner, Connection, Delta, TranscriptRow, ViewRequest, ViewSnapshot } from '../../src/protocol/messages';
import type { SlashName } from '../../src/protocol/slashCommands';
import { Debounce } from '../lib/debounce';
import type { AskEvent, EditEvent, FilesEvent, LateEditEvent, PictureEvent, ScrollAnchor, ToggleEvent } from '../lib/events';
import type { Host } from '../lib/host';
import { messageLine } from '../render/messageLine';
import { applyDelta, fromSnapshot, items, prependOlder, type ViewState } from './state';
import type { ComposerView } from '../composer/composer';
import { uuidV7 } from '../lib/uuid';
import { emptyState, isUndecided } from './emptyStates';
import { elsewhereLine, elsewhereText, leftOffer } from '../transcript/rows/branchRows';
import { coldLine } from '../gauge/gauge';
import { planCard, planReadyText, readyPlan } from '../composer/planMode';
import { withoutMessage } from '../composer/withoutMessage';
import { fullCard, fullText } from '../transcript/rows/decisionCards';
import { spokenRow } from '../transcript/spokenRow';
import type { TranscriptView } from '../transcript/transcript';
import { restoreUnsent, unsent } from '../lib/unsent';
import { ViewElement } from '../lib/viewElement';

/**
 * How often text is shown in a page that does not have the focus. Beside several chats that stream, a key is to be drawn at once: each
 * showing measures the rows anew.
 */
const besideMs = 80;

/** The Chat view: keeps the state, hands it down, and carries requests to the host. */
export class AppView extends ViewElement {
  static override properties = {
    state: { state: true },
    expanded: { state: true },
    loading: { state: true },
    problem: { state: true },
    remark: { state: true },
    announcement: { state: true },
  };
  host!: Host;
  private state: ViewState | null = null;
  private expanded: ReadonlySet<string> = new Set();
  private anchor: ScrollAnchor | null = null;
  private loading = false;
  /** The last request that failed, in the host's words. */
  private problem: string | null = null;
  /** What the last request came to, where it did nothing and nothing is wrong. */
  private remark: string | null = null;
  private announcement = '';
  private answer: TranscriptRow | null = null;
  /** A first message that is on its way: the session that comes of it is the one that is being written in. */
  private beginning: { readonly id: string; readonly text: string } | null = null;
  /** How many sessions have been on show: one that begins with its first message goes on being the same. */
  private opened = 0;
  /** What had the focus last. */
  private focused: Element | null = null;
  /** Text that has come while the focus is elsewhere, to be shown in one go. */
  private written: Delta[] = [];
  private writing: ReturnType<typeof setTimeout> | undefined;
  private readonly remembering = new Debounce<void>(250, () => this.remember());

  constructor() {
    super();
    this.addEventListener('tk-ask', (event: AskEvent) => void this.ask(event.request));
    this.addEventListener('tk-edit', (event) => void this.edit(event));
    this.addEventListener('tk-older', () => void this.loadOlder());
    this.addEventListener('tk-picture', (event: PictureEvent) => void this.showPicture(event));
    this.addEventListener('tk-files', (event: FilesEvent) => void this.host.files(event.hrefs).then(event.show, () => event.show([])));
    this.addEventListener('tk-announce', (event) => this.announce(event.text));
    this.addEventListener('tk-late-edit', ({ text, original }: LateEditEvent) => {
      // Behind the draft of a session that is only just being shown.
      void this.updateComplete.then(() => {
        const { composer } = this;
        if (!composer) return;
        // A message that was stopped before its turn stands in the box by now, with the words that it had.
        const isBack = original !== null && withoutMessage(composer.text, original) !== null;
        composer.giveBack({ ...nothingWritten, text }, original);
        if (!isBack) this.announce(t('This message has been sent already. Your new text is in the message box.'));
      });
    });
    this.addEventListener('tk-toggle', (event: ToggleEvent) => {
      const next = new Set(this.expanded);
      if (!next.delete(event.id)) next.add(event.id);
      this.expanded = next;
      this.remembering.call(() => undefined);
    });
    this.addEventListener('tk-unsent', () => this.remembering.call(() => undefined));
    this.addEventListener('tk-anchor', (event) => {
      if (this.anchor?.id === event.anchor?.id && this.anchor?.offset === event.anchor?.offset) return;
      this.anchor = event.anchor;
      this.remembering.call(() => undefined);
    });
    this.addEventListener('focusin', (event) => (this.focused = event.target as Element));
    this.addEventListener('keydown', (event) => {
      if (event.altKey && !event.ctrlKey && !event.metaKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown'))
        this.stepMessage(event);
      if (event.key !== 'Escape' || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
      if (this.state?.turn && !this.querySelector(':popover-open')) void this.ask({ method: 'stop' });
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('focus', this.viewFocused);
    window.addEventListener('pagehide', this.viewHidden);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('focus', this.viewFocused);
    window.removeEventListener('pagehide', this.viewHidden);
  }

  /** Everything anew: at the start, after a gap, and when another session is opened. */
  show(snapshot: ViewSnapshot): void {
    const before = this.state;
    const sameSession = before !== null && before.session?.uuid === snapshot.session?.uuid;
    const isBegun = before?.session === null && this.beginning !== null && holds(snapshot, this.beginning);
    // A key of VS Code's may have asked for it while the user was writing.
    if (!sameSession && !isBegun) this.composer?.flush();
    // It has all of this.
    this.written = [];
    this.state = fromSnapshot(snapshot, (before?.generation ?? 0) + 1);
    this.answer = null;
    this.loading = false;
    this.keepFocus();
    if (sameSession) return;
    if (!isBegun) this.opened += 1;
    this.beginning = null;
    this.problem = null;
    this.remark = null;
    let anchor: ScrollAnchor | null = null;
    if (before === null) {
      const remembered = this.host.remembered();
      this.expanded = new Set(remembered.expanded);
      if (remembered.unsent) restoreUnsent(remembered.unsent);
      if (remembered.session === snapshot.session?.uuid) anchor = remembered.anchor;
    }
    void this.updateComplete.then(() => {
      // Only what has been written since the first message goes on. What was written for a session that has not begun is kept by the host.
      if (!isBegun || this.composer?.isEmpty) {
        this.composer?.openDraft({ text: snapshot.draft, attachments: snapshot.attachments ?? [] }, snapshot.draftRemark);
      }
      if (anchor) this.transcript?.seek(anchor);
      else this.transcript?.jumpToLatest();
    });
  }

  apply(delta: Delta): void {
    if (!this.state) return;
    if (delta.kind === 'live_text' && !document.hasFocus()) {
      this.written.push(delta);
      this.writing ??= setTimeout(() => this.write(), besideMs);
      return;
    }
    this.write();
    this.state = applyDelta(this.state, delta);
    this.keepFocus();
    if (delta.kind === 'session') this.beginning = null;
    if (delta.kind === 'draft') this.composer?.takeDraft(delta);
    else if (delta.kind === 'attach') this.composer?.addAttachment(delta.attachment);
    else if (delta.kind === 'focus_composer') this.composer?.focusEnd();
    else if (delta.kind === 'reveal') this.transcript?.reveal(delta.id);
    else this.speak(delta);
  }

  protected override render(): TemplateResult {
    const state = this.state;
    if (!state) {
      return html`<main class="connecting"><vscode-progress-ring aria-hidden="true"></vscode-progress-ring><p>${t('Opening your history…')}</p></main>`;
    }
    const busy = state.turn !== null;
    const all = items(state);
    const disabledReason = whyDisabled(state.banner);
    // Who writes without having chosen anything has answers then that are no AI's.
    const isFirstRun = all.length === 0 && isUndecided(state.connection);
    const running = html`<tk-turn-status .turn=${state.turn} .modelName=${state.connection.modelName}></tk-turn-status>`;
    return html`
      <header>
        <tk-header .session=${state.session} .sessions=${state.sessions}></tk-header>
        <tk-banner .banner=${state.banner}></tk-banner>
      </header>
      <main>
        <tk-transcript
          .items=${all}
          .marks=${state.marks}
          .canBranch=${!busy && disabledReason === null}
          .generation=${state.generation}
          .hasMore=${state.hasMore}
          .loading=${this.loading}
          .idle=${!busy}
          .expanded=${this.expanded}
          .modelName=${state.connection.modelName}
          .readsFromTop=${state.connection.provider === 'offline'}
          .status=${busy && !state.full ? running : nothing}
          .empty=${all.length === 0 && state.banner?.kind !== 'store_failed' ? emptyState(state.connection) : nothing}
        ></tk-transcript>
      </main>
      <footer>
        ${this.problem === null ? nothing : messageLine('problem', this.problem, () => (this.problem = null))}
        ${this.remark === null ? nothing : messageLine('remark', this.remark, () => (this.remark = null))}
        ${state.full ? fullCard(state.full) : nothing}
        ${disabledReason === null ? planCard(readyPlan(state)) : nothing}
        ${state.elsewhere ? elsewhereLine(state.elsewhere, !busy && disabledReason === null) : nothing}
        ${state.left ? leftOffer(state.left) : nothing}
        ${state.context && !busy && state.connection.provider !== 'offline' ? coldLine(state.context.cache, disabledReason === null) : nothing}
        <tk-todos .todos=${state.todos ?? []}></tk-todos>
        <tk-queue .session=${state.session?.uuid ?? null} .queue=${state.queue}></tk-queue>
        <tk-gauge .context=${state.connection.provider === 'offline' ? null : state.context} .canCompact=${(!busy || state.full !== null) && disabledReason === null} .canCheckpoint=${disabledReason === null && all.length > 0}></tk-gauge>
        <tk-instructions .host=${this.host} .session=${state.session?.uuid ?? null} .generation=${state.generation}></tk-instructions>
        <tk-composer
          .host=${this.host}
          .session=${state.session?.uuid ?? null}
          .mode=${state.mode ?? 'chat'}
          .lastSent=${lastSent(state)}
          .busy=${busy}
          .stopping=${state.turn?.phase === 'stopping'}
          .disabledReason=${disabledReason}
          .connection=${state.connection}
          .placeholder=${placeholder(state.connection, isFirstRun)}
          .notice=${state.connection.provider === 'offline' && !isFirstRun ? t('No AI answers') : null}
        ></tk-composer>
      </footer>
      <div class="sr-only" role="status" aria-live="polite">${this.announcement}</div>
    `;
  }

  private get composer(): ComposerView | null {
    return this.querySelector<ComposerView>('tk-composer');
  }

  private get transcript(): TranscriptView | null {
    return this.querySelector<TranscriptView>('tk-transcript');
  }

  private async ask(request: ViewRequest): Promise<void> {
    if (request.method === 'open_session' || request.method === 'new_session' || request.method === 'stop') this.composer?.flush();
    const { opened } = this;
    const session = this.state?.session ?? null;
    const isHere = () => opened === this.opened || session?.uuid === this.state?.session?.uuid;
    if (request.method === 'send' || cameToNothing.has(request.method)) this.remark = null;
    if (request.method === 'send') {
      this.problem = null;
      this.beginning = this.state?.session === null ? request : null;
      this.transcript?.jumpToLatest();
    }
    // What had the focus goes.
    if (request.method === 'dismiss_banner' || request.method === 'stop') this.composer?.focusEnd();
    try {
      if (request.method === 'unqueue') {
        this.composer?.recallable(await this.host.unqueue(request.id));
        this.announce(t('Removed. Up arrow in the empty message box brings it back.'));
      } else {
        const reply = await this.host.channel.request(request);
        if (asksInDialog.has(request.method) || (request.method === 'slash' && slashAsksInDialog.has(request.name))) this.takeFocusBack();
        // Its card stands at the end.
        if (request.method === 'reuse_summary' && isHere()) this.transcript?.jumpToLatest();
        if (cameToNothing.has(request.method) && typeof reply === 'string' && isHere()) this.note(reply);
      }
    } catch (error) {
      this.problem = isHere() ? textOf(error) : t('In “{0}”: {1}', session?.title || t('New session'), textOf(error));
      if (request.method === 'send') this.beginning = null;
      const written = notDone(request);
      if (written && isHere()) this.composer?.giveBack(written);
      else if (written) void this.ask({ method: 'give_back', session: session?.uuid ?? null, ...written });
    }
  }

  /** A dialog of VS Code's that was opened from here gives the focus to the editors when it closes. */
  private takeFocusBack(): void {
    const { focused } = this;
    if (focused instanceof HTMLElement && focused.isConnected && !focused.closest('tk-composer') && focused.checkVisibility())
      focused.focus();
    else this.composer?.focusEnd();
  }

  private async edit({ entry, text, settled }: EditEvent): Promise<void> {
    this.problem = null;
    try {
      await this.host.channel.request({ method: 'edit', id: uuidV7(), entry, text });
      settled(true);
      this.transcript?.jumpToLatest();
      // The row gives the focus to its own actions first, and goes.
      requestAnimationFrame(() => this.composer?.focusEnd());
    } catch (error) {
      settled(false);
      this.problem = textOf(error);
    }
  }

  /** Shows the text that has been held back. */
  private write(): void {
    clearTimeout(this.writing);
    this.writing = undefined;
    if (this.state && this.written.length > 0) this.state = this.written.reduce(applyDelta, this.state);
    this.written = [];
  }

  private readonly viewHidden = (): void => this.remembering.flush();

  /** Where a command has put the focus into the view and not into anything of it, one writes. A click says itself what it means. */
  private readonly viewFocused = (): void => {
    this.host.channel.used();
    let isClicked = false;
    const clicked = () => (isClicked = true);
    window.addEventListener('pointerdown', clicked, { capture: true, once: true });
    setTimeout(() => {
      window.removeEventListener('pointerdown', clicked, { capture: true });
      if (!isClicked && nothingFocused()) this.composer?.focusEnd();
    }, 50);
  };

  /** What had the focus may go with a change: one writes on, then. */
  private keepFocus(): void {
    if (this.focused === null) return;
    requestAnimationFrame(() => {
      if (this.focused?.isConnected !== false || !nothingFocused()) return;
      this.focused = null;
      this.composer?.focusEnd();
    });
  }

  /** To the message above or below the one that has the focus; below the last one, to the composer. */
  private stepMessage(event: KeyboardEvent): void {
    const rows = [...this.querySelectorAll<HTMLElement>('tk-row')].filter((row) => row.querySelector('article') !== null);
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const to = (at < 0 ? rows.length : at) + (event.key === 'ArrowUp' ? -1 : 1);
    const row = rows[to];
    if (row === undefined && to < rows.length) return;
    event.preventDefault();
    if (row === undefined) return this.composer?.focusEnd();
    row.tabIndex = -1;
    row.focus();
    row.scrollIntoView({ block: 'nearest' });
  }

  private async showPicture({ attachment, show }: PictureEvent): Promise<void> {
    // What cannot be shown keeps its icon; opening it says why.
    show(await this.host.picture(attachment).catch(() => null));
  }

  private async loadOlder(): Promise<void> {
    const before = this.state?.rows[0]?.id;
    if (this.loading || before === undefined || !this.state?.hasMore) return;
    this.loading = true;
    const { generation } = this.state;
    try {
      const page = await this.host.older(before);
      if (this.state?.generation !== generation) return;
      this.state = prependOlder(this.state, before, page.rows.length > 0 ? page : { rows: [], hasMore: false, marks: [] });
    } catch (error) {
      if (this.state?.generation !== generation) return;
      // Without this the transcript would ask again at once, and again.
      this.state = { ...this.state, hasMore: false };
      this.problem = t('Earlier messages could not be loaded. {0}', textOf(error));
    } finally {
      if (this.state?.generation === generation) this.loading = false;
    }
  }

  /** A finished answer is read out once, when the turn ends; other news as they come. */
  private speak(delta: Delta): void {
    // A call asks after its row is there.
    if (delta.kind === 'row_changed' && delta.row.kind === 'tool') this.announce(spokenRow(delta.row));
    if (delta.kind === 'full' && delta.full) this.announce(fullText(delta.full));
    if (delta.kind === 'elsewhere' && delta.elsewhere) this.announce(elsewhereText(delta.elsewhere));
    if (delta.kind === 'row') {
      if (delta.row.kind === 'assistant') this.answer = delta.row;
      else if (delta.row.kind !== 'user') this.announce(spokenRow(delta.row));
    } else if (delta.kind === 'turn' && delta.turn === null && this.answer) {
      const plan = this.state && readyPlan(this.state) !== null ? ` ${planReadyText()}.` : '';
      this.announce(`${spokenRow(this.answer)}${plan}`);
      this.answer = null;
    }
  }

  private note(text: string): void {
    this.remark = text;
    // A region that comes with its text is not always read out.
    this.announce(text);
  }

  private announce(text: string): void {
    // The same words twice in a row must still be a change.
    if (text) this.announcement = text === this.announcement ? `${text}\u00a0` : text;
  }

  private remember(): void {
    this.host.remember({
      session: this.state?.session?.uuid ?? null,
      anchor: this.anchor,
      expanded: [...this.expanded].slice(-200),
      unsent: unsent(),
    });
  }
}

/** Another session may have been opened at the same moment. */
function holds({ rows, queue }: ViewSnapshot, { id, text }: { readonly id: string; readonly text: string }): boolean {
  return rows.some((row) => row.kind === 'user' && row.text === text) || queue.some((one) => one.id === id);
}

function nothingFocused(): boolean {
  return document.hasFocus() && (document.activeElement === null || document.activeElement === document.body);
}

/** What the user had written for a request, to be written in again where that has failed. */
function notDone(request: ViewRequest): { text: string; attachments: Attachment[] } | null {
  if (request.method === 'send') return { text: request.text, attachments: request.attachments ?? [] };
  // Its attachments went with the message as it was.
  if (request.method === 'edit_queued') return { text: request.text, attachments: [] };
  return request.method === 'slash' ? { text: `/${request.name} ${request.argument}`.trim(), attachments: [] } : null;
}

function lastSent({ rows }: ViewState): string {
  const last = rows.findLast(({ kind }) => kind === 'user');
  return last?.kind === 'user' ? last.text : '';
}

function whyDisabled(banner: Banner): string | null {
  if (banner?.kind === 'readonly') return t('Read-only in this window');
  return banner?.kind === 'store_failed' ? t('Your history could not be opened') : null;
}

function placeholder({ provider, modelName }: Connection, isFirstRun: boolean): string {
  if (isFirstRun) return t('Ask anything');
  return provider === 'offline' ? t('Search files, notes and past chats') : t('Message {0}', modelName);
}

function textOf(error: unknown): string {
  return RequestError.is(error) ? error.message : t('The answer was not understood.');
}

/** Each asks in one of VS Code's lists or inputs and is answered once that has closed. */
const asksInDialog: ReadonlySet<ViewRequest['method']> = new Set(['select_model', 'set_api_key', 'select_policy', 'label'] as const);

/** So does each of these, where its argument does not say it. */
const slashAsksInDialog: ReadonlySet<SlashName> = new Set(['model', 'policy', 'thinking', 'tools', 'rename', 'pin', 'branch'] as const);

/** Their reply is why there was nothing to do; null when there was. */
const cameToNothing: ReadonlySet<ViewRequest['method']> = new Set(['compact', 'checkpoint', 'slash'] as const);
