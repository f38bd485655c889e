import { html, LitElement, render, nothing, type PropertyValues } from 'lit';
import { t } from '../../src/protocol/l10n';
import { icon } from '../render/icons';
import { FaultEvent, ReloadEvent } from './events';
import { Directive, directive, PartType, type ElementPart, type PartInfo } from 'lit/directive.js';

/**
 * Base of the view's elements: no shadow root, so that text can be selected across messages and one style sheet rules; and an
 * error boundary, so that an element that throws says so in its own place and leaves the rest alone.
 */
export abstract class ViewElement extends LitElement {
  private failed = false;

  protected override createRenderRoot(): this {
    return this;
  }

  /** Renders at once what is pending, for a caller that is about to measure. */
  settle(): void {
    if (this.isUpdatePending) this.performUpdate();
  }

  protected override shouldUpdate(_changed: PropertyValues): boolean {
    return !this.failed;
  }

  protected override performUpdate(): void {
    try {
      super.performUpdate();
    } catch (error) {
      this.failed = true;
      document.dispatchEvent(
        new FaultEvent(`${this.localName}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
      );
      this.replaceChildren();
      const place = document.createElement('div');
      place.className = 'fault';
      this.append(place);
      render(faultMessage(), place);
    }
  }
}

function faultMessage() {
  return html`
    <p role="alert">${icon('error')} ${t('Something went wrong in the view. The conversation itself is safe.')}</p>
    <vscode-button appearance="secondary" @click=${() => document.dispatchEvent(new ReloadEvent())}>${t('Reload view')}</vscode-button>
  `;
}

/** Custom properties of an element, set without a style attribute (which the content security policy forbids). */
class PropertiesDirective extends Directive {
  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new Error('`properties` stands in an element, not in an attribute or child');
  }

  override update({ element }: ElementPart, [values]: [Readonly<Record<`--${string}`, string>>]): typeof nothing {
    for (const [name, value] of Object.entries(values)) (element as HTMLElement).style.setProperty(name, value);
    return nothing;
  }

  render(_values: Readonly<Record<`--${string}`, string>>): typeof nothing {
    return nothing;
  }
}

export const properties = directive(PropertiesDirective);
