import type { ScrollAnchor } from '../lib/events';

/** Closer to the end than this counts as at the end. */
const nearEnd = 8;

/**
 * Keeps the place in a scrolling list whose content changes above, below and within what is seen. `following` is true while
 * the reader is at the end: then the end is kept in sight, otherwise the first visible row stays where it is.
 *
 * Only the reader ends following, by scrolling up; growing content never does, because that moves nothing by itself.
 */
export class ScrollKeeper {
  private atEnd = true;
  private kept: ScrollAnchor | null = null;
  /** The row whose beginning stays in sight while the end is followed. */
  private lead: string | null = null;
  private lastTop = 0;
  private lastHeight = 0;
  private readonly observer: ResizeObserver;
  private readonly abort = new AbortController();

  constructor(
    private readonly scroller: HTMLElement,
    content: HTMLElement,
    /** Whether what is in the document ends where the list ends. */
    private readonly endIsShown: () => boolean,
    changed: () => void,
  ) {
    const options = { passive: true, signal: this.abort.signal };
    scroller.addEventListener('scroll', () => (this.scrolled(), changed()), options);
    // A wheel turn moves the list over several frames; the first of them is still near the end.
    scroller.addEventListener('wheel', (event) => event.deltaY < 0 && this.leave(event.target), options);
    scroller.addEventListener('keydown', (event) => ['ArrowUp', 'PageUp', 'Home'].includes(event.key) && this.leave(event.target), options);
    this.observer = new ResizeObserver(() => this.atEnd && this.toEnd());
    this.observer.observe(scroller);
    this.observer.observe(content);
  }

  get following(): boolean {
    return this.atEnd;
  }

  /** From now on the end is kept in sight. */
  follow(): void {
    this.atEnd = true;
    this.kept = null;
    this.lead = null;
    this.toEnd();
  }

  /** What grows below this row is followed until the row has reached the top: it is read from there. */
  readFrom(id: string): void {
    if (!this.atEnd) return;
    this.lead = id;
    this.toEnd();
  }

  /** Where the reader is, null at the end. */
  anchor(): ScrollAnchor | null {
    if (this.atEnd) return null;
    const top = this.scroller.getBoundingClientRect().top;
    for (const row of this.rows()) {
      const rect = row.getBoundingClientRect();
      if (rect.bottom > top && row.dataset['id']) return { id: row.dataset['id'], offset: Math.round(rect.top - top) };
    }
    return null;
  }

  /** To be restored after the next change. */
  keep(anchor: ScrollAnchor | null): void {
    this.kept = anchor;
    if (anchor) this.atEnd = false;
  }

  restore(): void {
    const kept = this.kept;
    this.kept = null;
    if (this.atEnd) return this.toEnd();
    if (!kept) return;
    const row = this.rows().find((element) => element.dataset['id'] === kept.id);
    if (!row) return;
    const offset = row.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    if (Math.abs(offset - kept.offset) >= 1) this.scroller.scrollTop += offset - kept.offset;
  }

  /** From now on what is seen stays where it is, whatever grows below it. */
  stay(): void {
    this.atEnd = false;
  }

  /** Moves a row up as far as it takes to see all of it, or everything down to the end, but not beyond its beginning. */
  bring(id: string, through: 'row' | 'end'): void {
    const row = this.rows().find((element) => element.dataset['id'] === id);
    if (!row) return;
    const view = this.scroller.getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    const hidden = through === 'end' ? this.distances().below : bottom - view.bottom;
    this.scroller.scrollTop += Math.max(0, Math.min(hidden, top - view.top));
    if (this.distances().below <= nearEnd && this.endIsShown()) this.atEnd = true;
  }

  distances(): { above: number; below: number; height: number } {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    return { above: scrollTop, below: scrollHeight - scrollTop - clientHeight, height: clientHeight };
  }

  dispose(): void {
    this.abort.abort();
    this.observer.disconnect();
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight } = this.scroller;
    const movedUp = scrollTop < this.lastTop && scrollHeight >= this.lastHeight;
    this.lastTop = scrollTop;
    this.lastHeight = scrollHeight;
    if (this.distances().below <= nearEnd && this.endIsShown()) this.atEnd = true;
    else if (movedUp) this.atEnd = false;
  }

  /** Unless it is something inside the list that scrolls. */
  private leave(target: EventTarget | null): void {
    for (let inner = target as HTMLElement | null; inner && inner !== this.scroller; inner = inner.parentElement) {
      if (inner.scrollTop > 0) return;
    }
    if (this.scroller.scrollHeight > this.scroller.clientHeight) this.atEnd = false;
  }

  private toEnd(): void {
    // What stands in the place of a conversation is read from its beginning.
    this.scroller.scrollTop = this.scroller.querySelector('[data-id]') ? this.scroller.scrollHeight : 0;
    // Content that shrinks moves the list up, and may have grown again when the browser tells of it: that is not the reader.
    this.lastTop = this.scroller.scrollTop;
    this.lastHeight = this.scroller.scrollHeight;
    const lead = this.lead === null ? undefined : this.rows().find((row) => row.dataset['id'] === this.lead);
    const hidden = lead ? this.scroller.getBoundingClientRect().top - lead.getBoundingClientRect().top : 0;
    if (hidden <= 0) return;
    this.scroller.scrollTop -= hidden;
    this.atEnd = false;
    this.lead = null;
  }

  private rows(): HTMLElement[] {
    return [...this.scroller.querySelectorAll<HTMLElement>('[data-id]')];
  }
}
