import { randomBytes } from 'node:crypto';
import { Uri, type Webview } from 'vscode';
import { translationsInUse } from '../core/l10n';
import type { Transport } from '../protocol/channel';
import { chatViewHtml, type ChatViewParts } from '../protocol/chatViewHtml';

export interface WebviewPageOptions {
  readonly extensionUri: Uri;
  /** The bundle's name: its script and its styles are called so. */
  readonly bundle: 'main' | 'panels';
  readonly title: string;
  readonly element: ChatViewParts['element'];
  readonly place?: string | undefined;
}

/** Loads a page of ours into a webview. Listen first: the page asks for its state as soon as it runs. */
export function showPage(webview: Webview, { extensionUri, bundle, title, element, place }: WebviewPageOptions): void {
  const file = (name: string) => webview.asWebviewUri(Uri.joinPath(extensionUri, 'dist', 'webview', name)).toString();
  webview.html = chatViewHtml({
    cspSource: webview.cspSource,
    nonce: randomBytes(24).toString('base64url'),
    scriptUri: file(`${bundle}.js`),
    styleUri: file(`${bundle}.css`),
    title,
    translations: translationsInUse(),
    element,
    place,
  });
}

export function transportOf(webview: Webview): Transport {
  return {
    // Resolves to false for a view that is hidden: it asks for a snapshot when it is shown again.
    post: (message) => void webview.postMessage(message).then(undefined, () => undefined),
    onMessage: (listener) => webview.onDidReceiveMessage(listener),
  };
}
