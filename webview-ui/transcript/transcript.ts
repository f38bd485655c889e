import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { t } from '../../src/protocol/l10n';
import { noRow, type RowMark } from '../../src/protocol/messages';
import type { Item } from '../chat/state';
import { AnchorEvent, AnnounceEvent, OlderEvent, type ScrollAnchor } from '../lib/events';
import { icon } from '../render/icons';
import type { RowView } from './row';
import { beyondSwitch } from './rows/branchRows';
import { around, bounded, extendedDown, extendedUp, grown, latest, shifted, type RowWindow } from './rowWindow';
import { ScrollKeeper } from './scrollKeeper';
import { foldBoundary, lastSaid, newestLiveCompaction, speakers, turnsOf } from './transcriptMarks';
import { ViewElement } from '../lib/viewElement';

/** How far from an end of the rows in the document more are fetched, in heights of the transcript. */
const ahead = 1.5;
/** Pages fetched in search of the place where the reader was before the view was hidden. */
const mostPagesBack = 20;
/** A row that was looked for stands this far below the top of the transcript, in pixels, and is marked this long. */
const revealedOffset = 48;
const markedMs = 4_000;

/**
 * The conversation. Only a window of the loaded rows is in the document; scrolling towards its ends moves it, and older rows
 * are asked for at the very beginning. Whoever reads at the end stays there, whoever reads elsewhere keeps the row in sight.
 */
export class TranscriptView extends ViewElement {
  static override properties = {
    items: { attribute: false },
    marks: { attribute: false },
    canBranch: { attribute: false },
    generation: { attribute: false },
    hasMore: { attribute: false },
    loading: { attribute: false },
    idle: { attribute: false },
    expanded: { attribute: false },
    modelName: { attribute: false },
    readsFromTop: { attribute: false },
    status: { attribute: false },
    empty: { attribute: false },
    away: { state: true },
    marked: { state: true },
  };
  items: readonly Item[] = [];
  marks: ReadonlyMap<string, RowMark> = new Map();
  /** Nothing runs, and the history can be written. */
  canBranch = false;
  generation = 0;
  hasMore = false;
  loading = false;
  idle = true;
  expanded: ReadonlySet<string> = new Set();
  modelName = '';
  /** A new answer is read from its beginning, with the question above it, and not followed to its end. */
  readsFromTop = false;
  /** What the running turn is doing, below the rows. */
  status: TemplateResult | typeof nothing = nothing;
  /** Shown instead of rows when there are none. */
  empty: TemplateResult | typeof nothing = nothing;
  /** The end of the conversation is out of sight. */
  private away = false;

  private range: RowWindow = { start: 0, end: 0 };
  private keeper: ScrollKeeper | undefined;
  /** The place to return to after everything was replaced, while it has not been found. */
  private sought: ScrollAnchor | null = null;
  private pagesBack = 0;
  /** The row to be marked once it is found, and the one that is. */
  private revealing: string | null = null;
  private marked: string | null = null;
  /** A screen reader may be switched on while the view is open. */
  private readonly bodyClasses = new MutationObserver(() => this.requestUpdate());
  private unmark: ReturnType<typeof setTimeout> | undefined;
  /** The row that the user is about to see more of. */
  /** The newest question that has been shown. */
  private led: string | null = null;
  private opening: { readonly id: string; readonly through: 'row' | 'end' } | null = null;

  constructor() {
    super();
    this.addEventListener('tk-toggle', ({ id }) => this.toggled(id));
    this.addEventListener('tk-hold', () => this.keeper?.stay());
  }

  /** Returns to a place as soon as its row is loaded; asks for older rows until then. */
  seek(anchor: ScrollAnchor | null): void {
    this.sought = anchor;
    this.pagesBack = 0;
    this.requestUpdate();
  }

  /** Goes to a row wherever it is in the conversation, marks it for a moment and moves the focus to it. */
  reveal(id: string): void {
    this.revealing = id;
    this.seek({ id, offset: revealedOffset });
  }

  jumpToLatest(): void {
    this.sought = null;
    this.revealing = null;
    this.range = latest(this.items.length);
    this.keeper?.follow();
    this.requestUpdate();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const anchor = this.keeper?.anchor() ?? null;
    if (changed.has('generation')) {
      this.range = latest(this.items.length);
      if (this.sought === null) this.sought = anchor;
      this.pagesBack = 0;
    } else if (changed.has('items')) {
      this.moveRange(changed.get('items') ?? []);
    }
    if (this.sought) this.lookFor(this.sought);
    else this.keeper?.keep(anchor);
    this.range = isReadAloud()
      ? { start: 0, end: this.items.length }
      : bounded(this.range, anchor ? this.items.findIndex(({ id }) => id === anchor.id) : -1, this.items.length);
  }

  protected override render(): TemplateResult {
    const { start, end } = this.range;
    const rows = this.items.slice(start, end);
    const names = speakers(this.items, start, end, this.modelName);
    const turns = turnsOf(this.items, start, end, this.idle);
    const boundary = foldBoundary(this.items);
    const undoable = newestLiveCompaction(this.items);
    const last = this.idle ? lastSaid(this.items) : -1;
    return html`
      <div class="scroller" role="log" aria-live="off" aria-label=${t('Conversation')} tabindex="0" aria-busy=${!this.idle}>
        <div class="rows">
          ${
            this.hasMore || start > 0
              ? html`<div class="older" aria-hidden="true">${this.loading ? t('Loading earlier messages…') : ''}</div>`
              : nothing
          }
          ${this.items.length === 0 ? html`${this.empty} ${this.canBranch ? beyondSwitch(this.marks.get(noRow)?.beyond ?? []) : nothing}` : nothing}
          ${repeat(
            rows,
            (item) => item.id,
            (item, index) => html`<tk-row
                class=${rowClass(item, item.id === this.marked)}
                data-id=${item.id}
                .item=${item}
                .speaker=${names[index] ?? null}
                .endsTurn=${turns[index]?.ends ?? false}
                .question=${turns[index]?.question ?? null}
                .expanded=${this.expanded.has(item.id)}
                .last=${start + index === last}
                .undoable=${item.id === undoable}
                .mark=${this.marks.get(item.id) ?? null}
                .canBranch=${this.canBranch}
              ></tk-row>
              ${
                start + index === boundary
                  ? html`<div class="fold-boundary" role="separator" aria-label=${t('The model sees what stands above through the summary')}>
                    <span>${icon('arrowUp')} ${t('The model sees these through the summary')}</span>
                  </div>`
                  : nothing
              }`,
          )}
          ${this.status}
        </div>
      </div>
      <button type="button" class="jump" ?hidden=${!this.away} @click=${() => this.jumpToLatest()}>
        ${icon('arrowDown')} ${t('Jump to latest')}
      </button>
    `;
  }

  protected override firstUpdated(): void {
    const scroller = this.querySelector<HTMLElement>('.scroller')!;
    const endIsShown = () => this.range.end === this.items.length;
    this.keeper = new ScrollKeeper(scroller, scroller.querySelector<HTMLElement>('.rows')!, endIsShown, () => this.scrolled());
    if (this.sought) this.requestUpdate();
    this.bodyClasses.observe(document.body, { attributeFilter: ['class'] });
  }

  protected override updated(): void {
    for (const row of this.querySelectorAll<RowView>('tk-row')) row.settle();
    this.keeper?.restore();
    this.leadAnswer();
    if (this.opening && this.expanded.has(this.opening.id)) {
      this.keeper?.bring(this.opening.id, this.opening.through);
      this.opening = null;
    }
    if (this.revealing !== null && this.sought === null) this.arrive(this.revealing);
    // The next rows follow in the next frame, so that a frame never holds more than one step.
    requestAnimationFrame(() => this.scrolled());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.unmark);
    this.keeper?.dispose();
    this.bodyClasses.disconnect();
  }

  private leadAnswer(): void {
    const question = this.items.findLast(({ kind }) => kind === 'user')?.id ?? null;
    // The turn begins before its question is there.
    const isNew = question !== this.led && !this.idle;
    this.led = question;
    if (this.readsFromTop && isNew && question !== null) this.keeper?.readFrom(question);
  }

  /** What is opened is read from its beginning, at the end of the conversation too. What is still being written is followed. */
  private toggled(id: string): void {
    if (this.expanded.has(id) || this.items.find((item) => item.id === id)?.kind === 'live') return;
    this.opening = { id, through: this.keeper?.following ? 'end' : 'row' };
    this.keeper?.stay();
  }

  private moveRange(before: readonly Item[]): void {
    const first = before[0];
    const added = first === undefined ? -1 : this.items.findIndex((item) => item.id === first.id);
    if (added < 0) {
      this.range = latest(this.items.length);
      return;
    }
    const wasAtEnd = this.range.end === before.length;
    this.range = grown(shifted(this.range, added), this.items.length, wasAtEnd, this.keeper?.following ?? true);
  }

  private lookFor(anchor: ScrollAnchor): void {
    const index = this.items.findIndex((item) => item.id === anchor.id);
    if (index >= 0) {
      this.range = around(index, this.items.length);
      this.keeper?.keep(anchor);
      if (this.keeper) this.sought = null;
    } else if (!this.hasMore || (this.pagesBack >= mostPagesBack && anchor.id !== this.revealing)) {
      this.sought = null;
    } else if (!this.loading) {
      this.pagesBack += 1;
      this.dispatchEvent(new OlderEvent());
    }
  }

  /** The search for a row has ended, with or without it. */
  private arrive(id: string): void {
    this.revealing = null;
    const row = [...this.querySelectorAll<RowView>('tk-row')].find((element) => element.dataset['id'] === id);
    if (!row) return void this.dispatchEvent(new AnnounceEvent(t('This message is not in the transcript any more.')));
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    this.dispatchEvent(new AnnounceEvent(t('Moved to the message that was found.')));
    this.marked = id;
    clearTimeout(this.unmark);
    this.unmark = setTimeout(() => (this.marked = null), markedMs);
  }

  /** After every scroll and every change: what else should be in the document? */
  private scrolled(): void {
    const keeper = this.keeper;
    if (!keeper || !this.isConnected) return;
    const { above, below, height } = keeper.distances();
    if (height === 0) return;
    const count = this.items.length;
    const higher = extendedUp(this.range);
    // Whoever follows the end must not lose it to the rows above.
    const fits = !keeper.following || higher.end === this.range.end;
    if (above < ahead * height && this.range.start > 0 && fits) this.show(higher);
    else if (below < ahead * height && this.range.end < count && !keeper.following) this.show(extendedDown(this.range, count));
    else if (above < ahead * height && this.hasMore && !this.loading && !this.sought) this.dispatchEvent(new OlderEvent());
    if (keeper.following && this.range.end < count) this.show(latest(count));
    this.away = !keeper.following && (below > 40 || this.range.end < count);
    if (!this.sought) this.dispatchEvent(new AnchorEvent(keeper.anchor()));
  }

  private show(range: RowWindow): void {
    this.range = range;
    this.requestUpdate();
  }
}

/** Whoever listens moves through the list, not over the screen: a window of it would end in the middle. */
function isReadAloud(): boolean {
  return document.body.classList.contains('vscode-using-screen-reader');
}

function rowClass(item: Item, isMarked: boolean): string {
  return `${'folded' in item && item.folded ? 'folded' : ''}${isMarked ? ' marked' : ''}`.trim();
}
