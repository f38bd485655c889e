import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { TurnState } from '../../src/protocol/messages';
import { ask } from '../lib/events';
import { duration } from '../lib/format';
import { ViewElement } from '../lib/viewElement';

type Turn = NonNullable<TurnState>;

/** What the running turn is doing right now; counts the seconds itself. */
export class TurnStatus extends ViewElement {
  static override properties = { turn: { attribute: false }, modelName: { attribute: false }, now: { state: true } };
  turn: TurnState = null;
  modelName = '';
  private now = Date.now();
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => (this.now = Date.now()), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  protected override willUpdate(): void {
    this.now = Date.now();
  }

  protected override render(): TemplateResult | typeof nothing {
    const turn = this.turn;
    const text = turn && sentence(turn, this.modelName, this.now);
    if (!turn || text === null) return nothing;
    return html`
      <div class="turn-status">
        <span class="ring"><vscode-progress-ring aria-hidden="true"></vscode-progress-ring></span>
        <span class="turn-text">${text}</span>
        ${turn.phase === 'compacting' ? action(t('Cancel'), 'cancel_compaction') : nothing}
        ${turn.phase === 'retrying' ? action(t('Stop'), 'stop') : nothing}
      </div>
    `;
  }
}

const reasons: Readonly<Record<string, () => string>> = {
  network: () => t('No connection'),
  overloaded: () => t('Overloaded'),
  rate_limited: () => t('Rate limit reached'),
  server: () => t('Error at the provider'),
  overflow: () => t('Too long for the model'),
};

function sentence(turn: Turn, modelName: string, now: number): string | null {
  switch (turn.phase) {
    case 'preparing':
      return t('Preparing…');
    case 'compacting':
      // Not broken between number and unit where the view is narrow.
      return t('Organizing conversation history… ({0})', duration(now - turn.startedAt).replaceAll(' ', '\u00a0'));
    case 'waiting':
      return t('Waiting for {0}…', modelName);
    case 'retrying': {
      if (!turn.retry) return t('Trying again…');
      const left = turn.retry.at - now;
      const reason = reasons[turn.retry.reason]?.() ?? turn.retry.reason;
      return left > 0 ? t('{0}, trying again in {1} s', reason, Math.ceil(left / 1000)) : t('{0}, trying again…', reason);
    }
    case 'stopping':
      return t('Stopping…');
    case 'elsewhere':
      return t('Another window is answering in this session. What you send is sent after it.');
    case 'streaming':
    case 'tools':
      return null;
  }
}

function action(label: string, method: 'cancel_compaction' | 'stop'): TemplateResult {
  return html`<vscode-button appearance="secondary" @click=${ask({ method })}>${label}</vscode-button>`;
}
