import './styles/base.css';
import './styles/frame.css';
import './styles/transcript.css';
import './styles/rows.css';
import './styles/markdown.css';
import './styles/gauge.css';
import './styles/composer.css';
import { AppView } from './chat/app';
import { defineElements } from './chat/defineElements';
import { connectHost } from './lib/host';
import { registerToolkit } from './lib/toolkit';
import { usePageTranslations } from './lib/translations';
import { reportFaults } from './lib/vscodeApi';

usePageTranslations();
registerToolkit();
defineElements();

const host = connectHost({ snapshot: (snapshot) => app.show(snapshot), delta: (delta) => app.apply(delta), fault: () => undefined });
let app = mount();

reportFaults((fault) => host.fault(fault));
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
