import { createHash } from 'node:crypto';
import { Marked, type Tokens } from 'marked';
import { translationsInUse } from '../../../core/l10n';
import { timeText } from '../../../core/recall/dateText';
import type { TranscriptBlock } from '../../../core/transfer/transcriptBlocks';

/** Addresses that a link may lead to. Everything else, `javascript:` above all, is shown as text. */
const linkable = /^(?:https?:|mailto:)/i;

/**
 * What was written in the conversation is escaped, its HTML included. Nothing is fetched. The library's own renderer of text takes what
 * stands within `<code>`, `<kbd>` or `<pre>` for HTML that may stay as it is, and so has no say here.
 */
const renderer = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    text(token: Tokens.Text | Tokens.Escape) {
      return 'tokens' in token && token.tokens ? this.parser.parseInline(token.tokens) : escapeHtml(token.text, bareAmpersand);
    },
    heading({ depth, tokens }: Tokens.Heading) {
      const level = Math.min(6, depth + 2);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    link({ href, tokens }: Tokens.Link) {
      const label = this.parser.parseInline(tokens);
      return linkable.test(href) ? `<a href="${escapeHtml(href)}" rel="noreferrer noopener">${label}</a>` : label;
    },
    image({ href, text }: Tokens.Image) {
      const label = escapeHtml(text || href);
      return linkable.test(href) ? `<a href="${escapeHtml(href)}" rel="noreferrer noopener">${label}</a>` : label;
    },
    code: ({ text }: Tokens.Code) => `<pre><code>${escapeHtml(text)}</code></pre>\n`,
    codespan: ({ text }: Tokens.Codespan) => `<code>${escapeHtml(text)}</code>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
});

/** An entity that somebody has written is a character in text. */
const bareAmpersand = /&(?!(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});)/gi;

/** Every tag that the renderer makes, attributes included. */
const ownTag = new RegExp(
  [
    '^<(?:/?(?:p|ul|ol|li|h[3-6]|pre|code|blockquote|strong|em|del|table|thead|tbody|tr|th|td)|br|hr|/a',
    '|ol start="\\d{1,9}"|t[hd] align="(?:left|center|right)"|a href="(?:https?:|mailto:)[^"<>]*" rel="noreferrer noopener")>',
  ].join(''),
  'i',
);

/** Markdown as HTML. A tag that is not one of our own is text, whatever the library makes of the next trick. */
function markdownHtml(markdown: string): string {
  const html = renderer.parse(markdown, { async: false });
  return html.replace(/<[^<>]*>?/g, (tag) => (ownTag.test(tag) ? tag : escapeHtml(tag)));
}

export type PictureOf = (hash: string, mime: string) => Promise<string | null>;

export async function blockHtml({ kind, heading, at, parts, attachments, folded }: TranscriptBlock, pictureOf: PictureOf): Promise<string> {
  const head = `<span class="who">${escapeHtml(heading)}</span> <time datetime="${isoTime(at)}">${timeText(at)}</time>`;
  const body = parts.map(({ format, text }) => (format === 'verbatim' ? `<pre>${escapeHtml(text)}</pre>` : markdownHtml(text)));
  const files: string[] = [];
  for (const { name, hash, mime } of attachments) {
    const data = await pictureOf(hash, mime);
    files.push(
      data === null ? `<p class="file">${escapeHtml(name)} (${escapeHtml(mime)})</p>` : `<img alt="${escapeHtml(name)}" src="${data}">`,
    );
  }
  const inner = [...body, ...files].join('\n');
  if (folded && inner !== '') return `<details class="${kind}"><summary>${head}</summary>\n${inner}\n</details>\n`;
  return kind === 'user' || kind === 'assistant'
    ? `<article class="${kind}"><h2>${head}</h2>\n${inner}\n</article>\n`
    : `<div class="${kind}">${head}\n${inner}</div>\n`;
}

export function pageHead(title: string, subtitle: string): string {
  return `<!doctype html>
<html lang="${escapeHtml(translationsInUse().language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${styleHash}'; img-src data:; form-action 'none'; base-uri 'none'">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<header><h1>${escapeHtml(title)}</h1><p>${escapeHtml(subtitle)}</p></header>
<main>
`;
}

export const pageEnd = '</main>\n</body>\n</html>\n';

export function escapeHtml(text: string, ampersand = /&/g): string {
  return text
    .replace(ampersand, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/'/g, '&#39;')
    .replaceAll('\0', '\ufffd');
}

function isoTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** On paper nothing is folded away, and no message begins at the foot of a page without a line of its own. */
const style = `
:root{color-scheme:light dark;--back:#fff;--fore:#1f1f1f;--dim:#595959;--link:#0b5cad;--line:#8886;--soft:#8881}
@media (prefers-color-scheme:dark){:root{--back:#1b1b1b;--fore:#e4e4e4;--dim:#b4b4b4;--link:#7ab7ff}}
html{background:var(--back);color:var(--fore)}a{color:var(--link)}
body{font:16px/1.55 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
header p,time{color:var(--dim);font-size:.85rem;font-weight:normal}
article{margin:1.5rem 0;padding:.25rem 1rem;border-left:3px solid var(--line)}
article.user{background:var(--soft);border-color:#3b82f6}
h2{font-size:1rem;margin:.5rem 0}h3,h4,h5,h6{font-size:1rem;margin:1rem 0 .25rem}
pre{background:var(--soft);padding:.75rem;overflow-x:auto;white-space:pre-wrap;font:13px/1.45 ui-monospace,monospace}
code{font-family:ui-monospace,monospace;font-size:.9em}
details,div.note,div.tool{margin:.5rem 0 .5rem 1rem;font-size:.9rem;border-left:1px solid var(--line);padding-left:.75rem}
summary{cursor:pointer}
table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.2rem .5rem}
blockquote{margin-left:0;padding-left:1rem;border-left:2px solid var(--line)}
img{max-width:100%}
@media print{:root{color-scheme:light;--back:#fff;--fore:#000;--dim:#555;--link:#000}body{margin:0;max-width:none;font-size:11pt}h2,summary{break-after:avoid}pre,img,tr{break-inside:avoid}pre{white-space:pre-wrap}details::details-content{content-visibility:visible;block-size:auto}details>*{display:block}}
`;

const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;
