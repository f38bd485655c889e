import type { Webview } from 'vscode';
import type { Transport } from '../../protocol/channel';

export function transportOf(webview: Webview): Transport {
  return {
    // Resolves to false for a view that is hidden: it asks for a snapshot when it is shown again.
    post: (message) => void webview.postMessage(message).then(undefined, () => undefined),
    onMessage: (listener) => webview.onDidReceiveMessage(listener),
  };
}
