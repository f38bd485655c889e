import { Marked, type Token, type Tokens } from 'marked';
import { t } from '../../src/protocol/l10n';
import { renderFormulas } from './formulas';
import type { FormulaToken } from './formulaTokens';
import { openableLink, sanitise } from './sanitise';

/** HTML that models write within Markdown and that means no more than its name; all other HTML is shown as written. */
const plainTag = /^<\/?(?:b|br|del|em|i|ins|kbd|mark|s|small|strong|sub|sup|u)\s*\/?>$/i;

/** An entity that somebody has written is a character in text. */
const bareAmpersand = /&(?!(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});)/gi;

const renderer = new Marked({
  gfm: true,
  extensions: [
    {
      name: 'formula',
      renderer(token) {
        const { text, isBlock } = token as FormulaToken;
        // Drawn once it is a node: until then, and where it is none, it says what was written.
        return isBlock
          ? `<div class="math" data-math="block">${escape(text)}</div>`
          : `<span class="math" data-math="inline">${escape(text)}</span>`;
      },
    },
  ],
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      return text.replace(/<[^<>]*>|[^<]+|</g, (part) => (plainTag.test(part) ? part : escape(part)));
    },
    /**
     * The library's own takes what stands within `<code>`, `<kbd>` or `<pre>` for HTML: it would be lost here, and not shown as written.
     */
    text(token: Tokens.Text | Tokens.Escape): string {
      return 'tokens' in token && token.tokens ? this.parser.parseInline(token.tokens) : escape(token.text, bareAmpersand);
    },
    /** Below the heading of the message itself, which is an h2. */
    heading({ depth, tokens }: Tokens.Heading): string {
      const level = depth <= 2 ? 3 : depth === 3 ? 4 : 5;
      return `<h${level} class="md-h${depth}">${this.parser.parseInline(tokens)}</h${level}>`;
    },
    link({ href, tokens }: Tokens.Link): string {
      const label = this.parser.parseInline(tokens);
      return openableLink.test(href) ? `<a data-href="${escape(href)}">${label}</a>` : label;
    },
    /** Nothing is fetched: an image is a link to itself. */
    image({ href, text }: Tokens.Image): string {
      const label = escape(text || href);
      return openableLink.test(href) ? `<a data-href="${escape(href)}">🖼 ${label}</a>` : `🖼 ${label}`;
    },
    checkbox({ checked }: Tokens.Checkbox): string {
      return checked ? '☑ ' : '☐ ';
    },
    code({ text, lang }: Tokens.Code): string {
      // The title carries what stands behind the fence to the code block that takes the place of this.
      return `<pre><code title="${escape(lang ?? '')}">${escape(text)}</code></pre>`;
    },
  },
});

/** Sanitised nodes of parsed blocks; links can be reached by keyboard. */
export function renderTokens(tokens: readonly Token[]): DocumentFragment {
  const fragment = sanitise(renderer.parser([...tokens]));
  for (const link of fragment.querySelectorAll('a')) {
    const href = link.getAttribute('data-href');
    if (href === null) continue;
    link.setAttribute('role', 'link');
    link.setAttribute('tabindex', '0');
    link.title = href;
  }
  renderFormulas(fragment);
  for (const table of fragment.querySelectorAll('table')) scrollable(table);
  return fragment;
}

/** The first word of a fence's info string. */
export function languageOf(info: string | undefined): string {
  return /^[\w+#.-]*/.exec(info ?? '')?.[0].toLowerCase() ?? '';
}

function scrollable(table: HTMLTableElement): void {
  const box = document.createElement('div');
  box.className = 'table-box';
  box.tabIndex = 0;
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', t('Table'));
  table.replaceWith(box);
  box.append(table);
}

function escape(text: string, ampersand = /&/g): string {
  return text.replace(ampersand, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;').replace(/'/g, '&#39;');
}
