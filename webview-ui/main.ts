import './styles/base.css';
import './styles/frame.css';
import './styles/transcript.css';
import './styles/rows.css';
import './styles/markdown.css';
import './styles/gauge.css';
import './styles/composer.css';
import { AppView } from './components/app';
import { defineElements } from './components/defineElements';
import { connectHost } from './host';
import { registerToolkit } from './toolkit';

/** More faults than this are the same fault again and again. */
let faultsLeft = 20;

registerToolkit();
defineElements();

const host = connectHost({
  snapshot: (snapshot) => app.show(snapshot),
  delta: (delta) => app.apply(delta),
  fault: () => undefined,
});
let app = mount();

document.addEventListener('tk-fault', (event) => report(event.fault));
window.addEventListener('error', (event) => {
  if (!event.message.startsWith('ResizeObserver loop')) report(`${event.message} (${event.filename}:${event.lineno})`);
});
window.addEventListener('unhandledrejection', (event) => report(`Unhandled: ${String(event.reason)}`));
document.addEventListener('tk-reload', () => {
  app.remove();
  app = mount();
  host.resync();
});
host.resync();

function mount(): AppView {
  const element = document.querySelector<AppView>('tk-app') ?? document.body.insertBefore(new AppView(), document.body.firstChild);
  element.host = host;
  return element;
}

function report(fault: string): void {
  if (faultsLeft-- > 0) host.fault(fault);
}
