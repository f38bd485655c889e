import hljs from 'highlight.js/lib/common';
import { sanitise } from './sanitise';

/** Longer code stays plain: 400 lines of TypeScript take about 70 ms. */
const longest = 30_000;

const waiting: HTMLElement[] = [];
let scheduled = false;

/** Colours a finished code element when there is nothing better to do, one element at a time. Its text stays as it is. */
export function highlightSoon(code: HTMLElement, language: string): void {
  if (code.textContent.length > longest || !hljs.getLanguage(language)) return;
  code.dataset['language'] = language;
  waiting.push(code);
  schedule();
}

function schedule(): void {
  if (scheduled || waiting.length === 0) return;
  scheduled = true;
  requestIdleCallback(
    (deadline) => {
      scheduled = false;
      do highlight(waiting.shift());
      while (waiting.length > 0 && deadline.timeRemaining() > 10);
      schedule();
    },
    { timeout: 500 },
  );
}

function highlight(code: HTMLElement | undefined): void {
  const language = code?.dataset['language'];
  if (code === undefined || language === undefined || !code.isConnected) return;
  const { value } = hljs.highlight(code.textContent, { language, ignoreIllegals: true });
  code.replaceChildren(sanitise(value));
  code.classList.add('hljs');
}
