import { html, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { Connection } from '../../src/protocol/messages';
import { ask } from '../lib/events';

/** Before the first message: what this is, and the ways to start while nothing can answer. */
export function emptyState(connection: Connection): TemplateResult {
  return isUndecided(connection) ? firstRun() : ready(connection);
}

/** Nothing can write answers, and the user has not said yet that this is how it is to be. */
export function isUndecided({ key, offlineChosen }: Connection): boolean {
  return key === 'missing' && !offlineChosen;
}

function firstRun(): TemplateResult {
  return html`
    <div class="empty first-run">
      ${mark()}
      <h2>${t('Conversations that last for weeks')}</h2>
      <p>
        ${t('Chat with Claude or another model, and always see how full its context is. Your history is kept in full; every summary can be undone.')}
      </p>
      <vscode-button @click=${ask({ method: 'set_api_key' })}>${t('Set API key')}</vscode-button>
      <button type="button" class="link-button" @click=${ask({ method: 'open_link', href: 'https://console.anthropic.com/settings/keys' })}>${t('Get an API key')}</button>
      <vscode-button appearance="secondary" @click=${ask({ method: 'select_model', provider: 'vscode' })}>${t('Use a VS Code language model')}</vscode-button>
      <vscode-button appearance="secondary" @click=${ask({ method: 'select_model', provider: 'ollama' })}>${t('Use Ollama')}</vscode-button>
      <vscode-button
        appearance="secondary"
        title=${t('LM Studio, llama.cpp, vLLM, OpenRouter and others: asks for the address, and for a key if it wants one.')}
        @click=${ask({ method: 'set_api_key', provider: 'openai-compatible' })}
        >${t('Use an OpenAI-compatible server')}</vscode-button
      >
      <vscode-button appearance="secondary" @click=${ask({ method: 'choose_offline' })}>${t('Try offline')}</vscode-button>
      <p class="hint">${t('Offline needs no key and no network. It searches your files, notes and past chats, without AI answers.')}</p>
    </div>
  `;
}

function ready({ provider, modelName }: Connection): TemplateResult {
  return html`
    <div class="empty">
      ${mark()}
      <h2>${provider === 'offline' ? t('Offline') : t('What are you working on?')}</h2>
      <p>
        ${
          provider === 'offline'
            ? t('Searches your files, notes and past chats. No AI answers; nothing leaves this machine.')
            : t('{0} answers here. This session is kept in full, however long it gets.', modelName)
        }
      </p>
    </div>
  `;
}

/** Threadkeeper's mark, in the colours of the theme: a thread wound on a spool. */
function mark(): TemplateResult {
  return html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d="M5 3.5h14M5 20.5h14M7.5 3.5v3.2M16.5 3.5v3.2M7.5 17.3v3.2M16.5 17.3v3.2"></path>
    <path class="thread" d="M6.5 8.2l11-1.5M6.5 11.3l11-1.5M6.5 14.4l11-1.5M6.5 17.5l11-1.5c2.5-.4 3.5 1 3.5 2.5"></path>
  </svg>`;
}
