import { html, nothing, type TemplateResult } from 'lit';
import type { TurnState } from '../../src/protocol/messages';
import { AskEvent } from '../events';
import { duration } from '../format';
import { ViewElement } from './viewElement';

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
        ${turn.phase === 'compacting' ? action('Cancel', 'cancel_compaction') : nothing}
        ${turn.phase === 'retrying' ? action('Stop', 'stop') : nothing}
      </div>
    `;
  }
}

const reasons: Readonly<Record<string, string>> = {
  network: 'No connection',
  overloaded: 'Overloaded',
  rate_limited: 'Rate limit reached',
  server: 'Error at the provider',
  overflow: 'Too long for the model',
};

function sentence(turn: Turn, modelName: string, now: number): string | null {
  switch (turn.phase) {
    case 'preparing':
      return 'Preparing…';
    case 'compacting':
      return `Organizing conversation history… (${duration(now - turn.startedAt)})`;
    case 'waiting':
      return `Waiting for ${modelName}…`;
    case 'retrying': {
      if (!turn.retry) return 'Trying again…';
      const left = turn.retry.at - now;
      const reason = reasons[turn.retry.reason] ?? turn.retry.reason;
      return left > 0 ? `${reason}, trying again in ${Math.ceil(left / 1000)} s` : `${reason}, trying again…`;
    }
    case 'stopping':
      return 'Stopping…';
    case 'elsewhere':
      return 'Another window is answering in this session. What you send is sent after it.';
    case 'streaming':
    case 'tools':
      return null;
  }
}

function action(label: string, method: 'cancel_compaction' | 'stop'): TemplateResult {
  const ask = (event: Event) => void event.target?.dispatchEvent(new AskEvent({ method }));
  return html`<vscode-button appearance="secondary" @click=${ask}>${label}</vscode-button>`;
}
