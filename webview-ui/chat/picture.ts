import { html, type PropertyValues, type TemplateResult } from 'lit';
import { PictureEvent } from '../lib/events';
import { icon } from '../render/icons';
import { ViewElement } from '../lib/viewElement';

/** A small view of an attached image, fetched when it is shown; never from outside. */
export class PictureView extends ViewElement {
  static override properties = { hash: { attribute: false }, mime: { attribute: false }, address: { state: true } };
  hash = '';
  mime = '';
  private address: string | null = null;

  protected override updated(changed: PropertyValues): void {
    if (!changed.has('hash') || this.hash === '') return;
    this.address = null;
    const { hash, mime } = this;
    this.dispatchEvent(new PictureEvent({ hash, mime }, (address) => hash === this.hash && (this.address = address)));
  }

  protected override render(): TemplateResult {
    // What it shows is named beside it.
    return this.address === null ? icon('image') : html`<img src=${this.address} alt="" />`;
  }
}
