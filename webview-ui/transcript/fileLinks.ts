import { mostHref, mostHrefs } from '../../src/protocol/messages';
import { FilesEvent } from '../lib/events';

/** What stands in a text where a file may be meant. */
interface Mention {
  readonly node: Text | HTMLElement;
  readonly start: number;
  readonly end: number;
  readonly href: string;
}

/** No more are looked up for one text. */
const mostMentions = 200;
/** How long an answer of the host counts, in milliseconds: files come and go. */
const knownMs = 60_000;
const mostKnown = 2_000;

const waiting = new Set<HTMLElement>();
const known = new Map<string, { readonly exists: boolean; readonly until: number }>();
let scheduled = false;

/** Makes links of the paths in a finished text that the host knows as files of the workspace. All that wait are asked for together. */
export function linkFilesSoon(root: HTMLElement): void {
  waiting.add(root);
  if (scheduled) return;
  scheduled = true;
  requestIdleCallback(linkAll, { timeout: 500 });
}

function linkAll(): void {
  scheduled = false;
  const roots = [...waiting].filter((root) => root.isConnected);
  waiting.clear();
  const mentions = roots.flatMap((root) => mentionsIn(root));
  if (known.size > mostKnown) known.clear();
  const now = performance.now();
  const unknown = [...new Set(mentions.map(({ href }) => href))].filter((href) => (known.get(href)?.until ?? 0) < now);
  link(mentions);
  for (let at = 0; at < unknown.length; at += mostHrefs) {
    const asked = unknown.slice(at, at + mostHrefs);
    const show = (found: readonly string[]) => {
      const until = performance.now() + knownMs;
      for (const href of asked) known.set(href, { exists: found.includes(href), until });
      link(mentions.filter(({ href }) => asked.includes(href)));
    };
    roots[0]?.dispatchEvent(new FilesEvent(asked, show));
  }
}

/** From the end, so that what is left of a text keeps its places. */
function link(mentions: readonly Mention[]): void {
  for (const { node, start, end, href } of mentions.toReversed()) {
    if (!known.get(href)?.exists || !node.isConnected || node.parentElement?.closest('a')) continue;
    const anchor = document.createElement('a');
    anchor.dataset['href'] = href;
    anchor.setAttribute('role', 'link');
    anchor.tabIndex = 0;
    if (node instanceof Text) {
      if (node.data.length < end) continue;
      const rest = node.splitText(start);
      rest.splitText(end - start);
      rest.replaceWith(anchor);
      anchor.append(rest);
    } else {
      node.replaceWith(anchor);
      anchor.append(node);
    }
    anchor.title = anchor.textContent;
  }
}

function mentionsIn(root: HTMLElement): Mention[] {
  const found: Mention[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node && found.length < mostMentions; node = texts.nextNode()) {
    const parent = node.parentElement;
    if (!(node instanceof Text) || !parent || parent.closest('a, pre, button, .code-bar, .math')) continue;
    if (parent.localName === 'code') {
      const href = fileHref(node.data.trim(), true);
      if (href !== null && parent.childNodes.length === 1) found.push({ node: parent, start: 0, end: 0, href });
    } else found.push(...inText(node));
  }
  return found;
}

function inText(node: Text): Mention[] {
  const found: Mention[] = [];
  for (const { 0: run, index } of node.data.matchAll(/[\w.+@~\-/\\:#]+/g)) {
    let length = run.length;
    while (length > 0 && '.:#-/\\'.includes(run[length - 1]!)) length--;
    const href = fileHref(run.slice(0, length), false);
    if (href !== null) found.push({ node, start: index, end: index + length, href });
  }
  return found;
}

/** Null for what cannot be the path of a file, with or without a line. What is not in code has to look like one. */
function fileHref(text: string, isCode: boolean): string | null {
  if (text.length > mostHref / 2) return null;
  const parts = /^((?:[a-z]:)?[^:#?*"<>|]+)(?::(\d+)(?::\d+|-\d+)?|#L(\d+)(?:-L?\d+)?)?$/i.exec(text);
  const path = parts?.[1]?.replaceAll('\\', '/');
  if (!parts || path === undefined || path.startsWith('//') || !/\p{L}/u.test(path)) return null;
  const isNamed = /\.[a-z]\w{0,11}$/i.test(path);
  if (!isNamed && (!isCode || /[\s(){}=;,]/.test(path))) return null;
  const line = parts[2] ?? parts[3];
  const href = path.split('/').map(encodeURIComponent).join('/') + (line === undefined ? '' : `:${line}`);
  return href.length <= mostHref ? href : null;
}
