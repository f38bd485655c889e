import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { WorkspaceInstructions } from '../../src/protocol/composer';
import { shortTokens } from '../../src/protocol/figures';
import type { Host } from '../lib/host';
import { ViewElement } from '../lib/viewElement';
import { icon } from '../render/icons';

/** Names of files that are shown; the others are counted. */
const mostNames = 3;

/** Says which instruction files of the workspace the model is given; opens them, and switches them off. */
export class InstructionsChip extends ViewElement {
  static override properties = { session: { attribute: false }, generation: { attribute: false }, instructions: { state: true } };
  host!: Pick<Host, 'instructions'>;
  session: string | null = null;
  generation = 0;
  private instructions: WorkspaceInstructions | null = null;
  private readonly look = (): void => void this.ask('instructions');

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('focus', this.look);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('focus', this.look);
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has('session') || changed.has('generation')) this.look();
  }

  protected override render(): TemplateResult | typeof nothing {
    const { instructions } = this;
    if (instructions === null || instructions.files.length === 0) return nothing;
    const { files, off } = instructions;
    const sizes = files.map(({ path, tokens }) => `${path}: ${t('{0} tokens', shortTokens(tokens))}`);
    const more = files.length > mostNames ? ` +${files.length - mostNames}` : '';
    const names = files
      .slice(0, mostNames)
      .map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
      .join(', ');
    const text = off === null ? t('Instructions: {0}', `${names}${more}`) : t('Instructions: off');
    const title = [off === null ? t('The model follows these files:') : t('The model does not get these files:'), ...sizes].join('\n');
    return html`<button type="button" class="instructions-chip ${off === null ? '' : 'off'}" title=${title} aria-label=${`${text}. ${t('Open or turn off')}`} @click=${() => void this.ask('choose_instructions')}>
      ${icon('file')}<span>${text}</span>
    </button>`;
  }

  private async ask(method: 'instructions' | 'choose_instructions'): Promise<void> {
    // What the host cannot say is not shown: it is news, and nothing depends on it.
    this.instructions = await this.host.instructions(method).catch(() => this.instructions);
  }
}
