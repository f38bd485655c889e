import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../../src/protocol/l10n';
import { costText } from '../../lib/format';
import type { TranscriptRow } from '../../../src/protocol/messages';
import { shortTokens, visibleText } from '../../../src/protocol/figures';
import { icon, type IconName } from '../../render/icons';
import { lineCounts } from './changeLines';
import { approvalCard } from './decisionCards';
import { ask } from '../../lib/events';
import { heading } from './messageRows';
import { excludedRemark, unansweredRemark, type RowContext } from './rowParts';

type Tool = TranscriptRow & { kind: 'tool' };

/** Longer input and output is cut in the view; the conversation has all of it. */
const shown = 20_000;

const statuses: Record<Tool['status'], { label: () => string; icon: IconName }> = {
  running: { label: () => t('running'), icon: 'tool' },
  ok: { label: () => t('done'), icon: 'check' },
  error: { label: () => t('failed'), icon: 'error' },
  denied: { label: () => t('not allowed'), icon: 'lock' },
  interrupted: { label: () => t('interrupted'), icon: 'warning' },
};

const waiting: { label: () => string; icon: IconName } = { label: () => t('needs your permission'), icon: 'lock' };

/** One line: what was called, with what, and how it went; more on request. */
export function toolRow(tool: Tool, { expanded, toggle, speaker, canBranch, last }: RowContext): TemplateResult {
  const status = tool.approval ? waiting : statuses[tool.status];
  return html`
    ${heading(speaker)}
    <div class="tool ${tool.status} ${tool.excluded && !tool.folded ? 'excluded' : ''}">
      <button type="button" class="disclosure tool-line" aria-expanded=${expanded} @click=${toggle}>
        ${icon(expanded ? 'chevronDown' : 'chevronRight')}
        ${
          tool.title === null
            ? html`<span class="tool-name">${visibleText(tool.name)}</span> <span class="tool-input">${summary(tool.input)}</span>`
            : titleText(visibleText(tool.title), tool.file !== undefined)
        }
        ${tool.lines ? lineCounts(tool.lines) : nothing}
        <span class="tool-status">
          ${tool.status === 'running' && !tool.approval ? html`<span class="ring"><vscode-progress-ring aria-hidden="true"></vscode-progress-ring></span>` : icon(status.icon)}
          <span class=${status === statuses.ok || status === statuses.running || status === waiting ? 'sr-only' : ''}>${status.label()}</span>
        </span>
      </button>
      ${tool.aside ? asideLine(tool.aside) : nothing}
      ${tool.file === undefined ? nothing : openButton(tool.file)}
      ${
        tool.name === 'run_command' && tool.status === 'running' && !tool.approval
          ? html`<button type="button" class="link-button" @click=${ask({ method: 'show_terminal', id: tool.id })}>${t('Show terminal')}</button>`
          : nothing
      }
      ${approvalCard(tool)} ${pictures(tool.images ?? [])}
      ${
        expanded
          ? html`<div class="tool-details">
            ${part(t('Input'), visibleText(tool.input, 'lines'))} ${tool.output === null ? nothing : part(t('Output'), tool.output)}
            <div class="links">${tool.hasDiff ? html`<button type="button" class="link-button" @click=${ask({ method: 'show_diff', id: tool.id })}>${t('Show diff')}</button>` : nothing}
            ${tool.excluded || tool.folded || tool.status === 'running' ? nothing : html`<button type="button" class="link-button" ?disabled=${!canBranch} @click=${ask({ method: 'exclude', id: tool.id })}>${t('Exclude from context')}</button>`}</div>
          </div>`
          : nothing
      }
      ${excludedRemark(tool, canBranch)}
    </div>
    ${last && canBranch ? unansweredRemark(t('Continue')) : nothing}
  `;
}

/** Where there is no room for all of a path, its folders are cut: the name of the file is what one looks for. */
function titleText(title: string, isOfFile: boolean): TemplateResult {
  const at = isOfFile ? Math.max(title.lastIndexOf('/'), title.lastIndexOf('\\')) : -1;
  if (at < 0) return html`<span class="tool-title">${title}</span>`;
  return html`<span class="tool-title of-file"><span>${title.slice(0, at)}</span><span>${title.slice(at)}</span></span>`;
}

/** How much a side question has read, what it cost, and the way to all of it. */
function asideLine({ id, read, requests, cost, outcome }: NonNullable<Tool['aside']>): TemplateResult {
  const facts = [
    t('{0} tokens read', shortTokens(read)),
    t(requests === 1 ? '{0} request' : '{0} requests', wholeNumber(requests)),
    ...(cost === null ? [] : [costText({ usd: cost, requestsWithoutCost: 0, requestsEstimated: 0 }, 1)]),
    ...(outcome === 'answered' ? [] : [outcome === 'stopped' ? t('stopped') : t('failed')]),
  ];
  return html`<div class="aside-line">
    <span>${facts.join(' · ')}</span>
    <button type="button" class="link-button" @click=${ask({ method: 'show_aside', id })}>${t('Show')}</button>
  </div>`;
}

/** Seen without opening the row: that is what they are for. */
function pictures(images: NonNullable<Tool['images']>): TemplateResult | typeof nothing {
  if (images.length === 0) return nothing;
  return html`<ul class="tool-images" aria-label=${t('Images')}>
    ${images.map((attachment) => {
      const label = t('Open {0}', visibleText(attachment.name));
      return html`<li>
        <button type="button" class="tool-image" title=${label} aria-label=${label} @click=${ask({ method: 'open_attachment', attachment })}>
          <tk-picture .hash=${attachment.hash} .mime=${attachment.mime}></tk-picture>
        </button>
      </li>`;
    })}
  </ul>`;
}

function openButton(file: string): TemplateResult {
  const label = t('Open {0}', visibleText(file));
  return html`<button type="button" class="icon-button tool-open" title=${label} aria-label=${label} @click=${ask({ method: 'open_link', href: file.split('/').map(encodeURIComponent).join('/') })}>${icon('file')}</button>`;
}

function part(label: string, text: string): TemplateResult {
  return html`
    <div class="tool-label">${label}</div>
    <pre tabindex="0" role="group" aria-label=${label}>${text.slice(0, shown)}${text.length > shown ? '\n…' : nothing}</pre>
  `;
}

/** The values of the call in a line, as far as they are short. */
function summary(input: string): string {
  try {
    const parsed: unknown = JSON.parse(input);
    if (typeof parsed !== 'object' || parsed === null) return '';
    const values = Object.values(parsed).filter((value) => typeof value === 'string' || typeof value === 'number');
    return values
      .map((value) => visibleText(String(value).replace(/[ \n\t]+/g, ' ')))
      .join(' · ')
      .slice(0, 120);
  } catch {
    return '';
  }
}
