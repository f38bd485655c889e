import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../../src/protocol/l10n';
import type { TranscriptRow } from '../../../src/protocol/messages';
import { duration, timeOfDay } from '../../lib/format';
import { ask } from '../../lib/events';
import { icon } from '../../render/icons';
import { attachmentList } from '../../composer/attachmentList';
import { labelChip } from './branchRows';
import { commonActions, excludedRemark, pinnedRemark, rowActions, unansweredRemark, type RowContext } from './rowParts';

type User = TranscriptRow & { kind: 'user' };

/** More than this is folded away behind *Show all*. */
const longText = 1500;
const longLines = 16;

export function userRow(
  { id, text, attachments = [], at, excerpted, pinned, excluded, folded }: User,
  { expanded, toggle, canBranch, label, last, editing, edit }: RowContext,
): TemplateResult {
  if (editing) return html`<h2 class="sr-only">${t('You')}</h2>`;
  const short = expanded ? text : beginning(text);
  const fold = (label: string) =>
    html`<button type="button" class="link-button" aria-expanded=${expanded} @click=${toggle}>${label}</button>`;
  const isLong = beginning(text) !== text;
  return html`
    <article class="user-message ${pinned ? 'pinned' : ''} ${excluded && !folded ? 'excluded' : ''}" aria-label=${t('You, {0}', timeOfDay(at))}>
      <h2 class="sr-only">${t('You')}</h2>
      ${label ? labelChip(label) : nothing}
      ${attachmentList(attachments, null)}
      ${expanded && isLong ? fold(t('Show less')) : nothing}
      <div class="user-text">${short}${short.length < text.length ? '…' : nothing}</div>
      ${isLong ? fold(expanded ? t('Show less') : t('Show all ({0})', size(text.length))) : nothing}
      ${excerpted ? html`<p class="remark">${icon('info')} ${t('Very long: the model is sent its beginning and end.')}</p>` : nothing}
      ${rowActions(t('your message'), [
        {
          name: 'edit',
          icon: 'edit',
          label: t('Edit your message'),
          title: t('Edit and send again, on a branch of its own'),
          disabled: !canBranch,
          run: edit,
        },
        {
          name: 'restore',
          icon: 'history',
          label: t('Restore files and conversation to before your message'),
          title: t('Restore…'),
          disabled: !canBranch,
          run: ask({ method: 'restore', entry: id }),
        },
        ...commonActions({ id, text, label, pinned, excluded, folded, canChange: canBranch }, t('your message')),
      ])}
      ${pinnedRemark(pinned)} ${excludedRemark({ id, excluded, folded }, canBranch)}
    </article>
    ${last && canBranch ? unansweredRemark(t('Try again')) : nothing}
  `;
}

const interruptions = {
  stopped: () => t('Stopped'),
  disconnected: () => t('Connection lost'),
  crashed: () => t('Interrupted by a restart'),
} as const;

export interface Answer {
  readonly markdown: string;
  readonly streaming: boolean;
  readonly interrupted: keyof typeof interruptions | null;
  readonly at: number | null;
  /** Null while it streams: there is nothing to act on yet. */
  readonly stored: { readonly id: string; readonly pinned: boolean; readonly excluded: boolean; readonly folded: boolean } | null;
}

/** The same template while it streams and after, so that its nodes stay. */
export function assistantRow(
  { markdown, streaming, interrupted, at, stored }: Answer,
  { speaker, canBranch, label, last, endsTurn, question }: RowContext,
): TemplateResult {
  return html`
    <article class="answer ${stored?.pinned ? 'pinned' : ''} ${stored?.excluded && !stored.folded ? 'excluded' : ''}" aria-label=${at === null ? t('Answer') : t('Answer, {0}', timeOfDay(at))}>
      ${heading(speaker)}
      ${label ? labelChip(label) : nothing}
      <tk-markdown .source=${{ text: markdown, streaming }}></tk-markdown>
      ${interrupted ? interruptedRemark(interrupted) : nothing}
      ${
        stored
          ? footer({ ...stored, text: markdown, label, canBranch, question, canGoOn: interrupted !== null && last && canBranch }, endsTurn)
          : // Their room is there from the beginning, so that nothing moves when the answer ends.
            html`<div class="row-actions"></div>`
      }
      ${pinnedRemark(stored?.pinned ?? false)} ${stored ? excludedRemark(stored, canBranch) : nothing}
    </article>
  `;
}

/** Whoever stopped an answer needs no warning. */
function interruptedRemark(why: NonNullable<Answer['interrupted']>): TemplateResult {
  return html`<p class="remark interrupted">${icon(why === 'disconnected' ? 'warning' : 'info')} <span>${interruptions[why]()}</span></p>`;
}

interface Footer extends NonNullable<Answer['stored']> {
  readonly text: string;
  readonly label: string | null;
  readonly canBranch: boolean;
  readonly canGoOn: boolean;
  readonly question: string | null;
}

/** What can be done with an answer, at its end. */
function footer({ canGoOn, question, canBranch, ...message }: Footer, isShown: boolean): TemplateResult {
  const what = t('this answer');
  const common = commonActions({ ...message, canChange: canBranch }, what);
  const named = (name: string) => common.filter((action) => action.name === name);
  const { id, pinned, excluded, folded } = message;
  return rowActions(
    what,
    [
      ...named('copy'),
      {
        name: 'retry',
        icon: 'retry',
        label: t('Ask for another answer'),
        title: t('Ask for another answer; this one is kept'),
        disabled: !canBranch,
        run: ask({ method: 'regenerate', entry: id }),
      },
      ...(canGoOn
        ? [
            {
              name: 'continue',
              icon: 'play' as const,
              label: t('Continue'),
              title: t('Continue this answer'),
              text: t('Continue'),
              run: ask({ method: 'retry' }),
            },
          ]
        : []),
      ...named('fork'),
    ],
    isShown,
    {
      label: t('More about this answer'),
      items: [
        pinned
          ? { label: t('Unpin {0}', what), request: { method: 'unpin', id } }
          : { label: t('Pin {0}', what), request: { method: 'pin', id } },
        excluded
          ? { label: t('Include {0} again', what), request: { method: 'include', id }, disabled: folded || !canBranch }
          : { label: t('Exclude {0}', what), request: { method: 'exclude', id }, disabled: folded || pinned || !canBranch },
        {
          label: message.label === null ? t('Label {0}', what) : t('Change the label of {0}', what),
          request: { method: 'label', entry: id, label: message.label ?? '' },
        },
        ...(question === null
          ? []
          : [{ label: t('Restore to before this turn…'), request: { method: 'restore' as const, entry: question }, disabled: !canBranch }]),
      ],
    },
  );
}

export interface Thought {
  readonly text: string;
  readonly streaming: boolean;
  readonly durationMs: number | null;
}

export function thinkingRow(
  { text, streaming, durationMs }: Thought,
  { speaker, expanded, toggle, last, canBranch }: RowContext,
): TemplateResult {
  const label = streaming
    ? t('Thinking…')
    : durationMs === null || durationMs < 1_000
      ? t('Thought')
      : t('Thought for {0}', duration(durationMs));
  return html`
    ${heading(speaker)}
    <div class="thinking">
      <button type="button" class="disclosure ${streaming ? 'busy' : ''}" aria-expanded=${expanded} @click=${toggle}>
        ${icon(expanded ? 'chevronDown' : 'chevronRight')}<span>${label}</span>
      </button>
      ${expanded ? html`<tk-markdown class="thoughts" .source=${{ text, streaming }}></tk-markdown>` : nothing}
    </div>
    ${last && canBranch ? unansweredRemark(t('Continue')) : nothing}
  `;
}

export function heading(speaker: string | null): TemplateResult | typeof nothing {
  return speaker === null ? nothing : html`<h2 class="speaker">${speaker}</h2>`;
}

function beginning(text: string): string {
  let end = Math.min(text.length, longText);
  let at = -1;
  for (let lines = 0; lines < longLines; lines++) {
    at = text.indexOf('\n', at + 1);
    if (at === -1 || at >= end) break;
    if (lines === longLines - 1) end = at;
  }
  // A few more words are no reason to hide them.
  return text.length - end < 200 && end >= longText ? text : text.slice(0, end);
}

function size(characters: number): string {
  return characters < 10_000 ? t('{0} characters', wholeNumber(characters)) : t('{0}k characters', Math.round(characters / 1000));
}
