import './styles/base.css';
import './styles/frame.css';
import './styles/transcript.css';
import './styles/rows.css';
import './styles/cards.css';
import './styles/markdown.css';
import './styles/gauge.css';
import './styles/composer.css';
import './styles/planning.css';
import { AppView } from './chat/app';
import { connectHost } from './lib/host';
import { registerToolkit } from './lib/toolkit';
import { copyFormulas } from './render/formulas';
import { usePageTranslations, reportFaults } from './lib/page';
import { BannerView } from './chat/banner';
import { ComposerView } from './composer/composer';
import { GaugeView } from './gauge/gauge';
import { HeaderView } from './chat/header';
import { MarkdownView } from './transcript/markdownView';
import { MessageEditor } from './transcript/messageEditor';
import { InstructionsChip } from './composer/instructionsChip';
import { TodoListView } from './composer/todoList';
import { PictureView } from './composer/attachmentList';
import { TurnStatus } from './chat/runningTurn';
import { QueueView } from './composer/queueView';
import { RowView } from './transcript/row';
import { TranscriptView } from './transcript/transcript';

const elements = {
  'tk-markdown': MarkdownView,
  'tk-message-editor': MessageEditor,
  'tk-picture': PictureView,
  'tk-row': RowView,
  'tk-turn-status': TurnStatus,
  'tk-transcript': TranscriptView,
  'tk-header': HeaderView,
  'tk-banner': BannerView,
  'tk-queue': QueueView,
  'tk-todos': TodoListView,
  'tk-gauge': GaugeView,
  'tk-instructions': InstructionsChip,
  'tk-composer': ComposerView,
  'tk-app': AppView,
} as const;

usePageTranslations();
registerToolkit();
defineElements();

const host = connectHost({ snapshot: (snapshot) => app.show(snapshot), delta: (delta) => app.apply(delta), fault: () => undefined });
let app = mount();

reportFaults((fault) => host.channel.fault(fault));
document.addEventListener('tk-reload', () => {
  app.remove();
  app = mount();
  host.channel.resync();
});
host.channel.resync();

document.addEventListener('copy', copyFormulas);

function mount(): AppView {
  const element = document.querySelector<AppView>('tk-app') ?? document.body.insertBefore(new AppView(), document.body.firstChild);
  element.host = host;
  return element;
}

/** Children before parents, so that nothing is rendered with an element that is not yet one. */
function defineElements(): void {
  for (const [name, element] of Object.entries(elements)) customElements.define(name, element);
}
