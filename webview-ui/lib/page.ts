import type { Scheduler, Transport } from '../../src/protocol/channel';
import { readTranslations, translationsName, useTranslations } from '../../src/protocol/l10n';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare global {
  /** May be called once per document. */
  function acquireVsCodeApi(): VsCodeApi;
}

export function transportOf(api: VsCodeApi): Transport {
  return {
    post: (message) => api.postMessage(message),
    onMessage: (listener) => {
      const receive = (event: MessageEvent<unknown>) => listener(event.data);
      window.addEventListener('message', receive);
      return { dispose: () => window.removeEventListener('message', receive) };
    },
  };
}

export const after: Scheduler = (ms, callback) => {
  const timer = setTimeout(callback, ms);
  return { dispose: () => clearTimeout(timer) };
};

/** More faults than this are the same fault again and again. */
const mostFaults = 20;

/** Tells the host of every fault in this document that nobody has dealt with. */
export function reportFaults(tell: (fault: string) => void): void {
  let left = mostFaults;
  const report = (fault: string) => {
    if (left-- > 0) tell(fault);
  };
  document.addEventListener('tk-fault', (event) => report(event.fault));
  window.addEventListener('error', (event) => {
    if (!event.message.startsWith('ResizeObserver loop')) report(`${event.message} (${event.filename}:${event.lineno})`);
  });
  window.addEventListener('unhandledrejection', (event) => report(`Unhandled: ${String(event.reason)}`));
}

/** Takes the texts that came with the page. Before anything is drawn. */
export function usePageTranslations(): void {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="${translationsName}"]`)?.content;
  if (content) useTranslations(readTranslations(document.documentElement.lang, content));
}
