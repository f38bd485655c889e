import { AppView } from './app';
import { BannerView } from './banner';
import { ComposerView } from '../composer/composer';
import { GaugeView } from '../gauge/gauge';
import { HeaderView } from './header';
import { MarkdownView } from '../transcript/markdownView';
import { MessageEditor } from '../transcript/messageEditor';
import { PictureView } from './picture';
import { QueueView } from './queue';
import { RowView } from '../transcript/row';
import { TranscriptView } from '../transcript/transcript';
import { TurnStatus } from './turnStatus';

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
  'tk-gauge': GaugeView,
  'tk-composer': ComposerView,
  'tk-app': AppView,
} as const;

/** Children before parents, so that nothing is rendered with an element that is not yet one. */
export function defineElements(): void {
  for (const [name, element] of Object.entries(elements)) customElements.define(name, element);
}
