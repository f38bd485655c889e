import './styles/base.css';
import './styles/gauge.css';
import './styles/panels.css';
import { ViewChannel } from '../src/protocol/channel';
import { panelWire, type PanelMemory, type PanelRequest, type PanelState } from '../src/protocol/panels';
import { AnalyticsView } from './panels/analytics';
import { BreakdownView } from './panels/breakdown';
import { PanelView } from './panels/panel';
import { registerToolkit } from './lib/toolkit';
import { usePageTranslations, after, reportFaults, transportOf } from './lib/page';

usePageTranslations();
registerToolkit();
customElements.define('tk-breakdown', BreakdownView);
customElements.define('tk-analytics', AnalyticsView);
customElements.define('tk-panel', PanelView);

const api = acquireVsCodeApi();
const channel = new ViewChannel(
  panelWire,
  transportOf(api),
  {
    snapshot: (state) => {
      panel.show(state);
      api.setState(memoryOf(state));
    },
    delta: () => undefined,
    fault: () => undefined,
  },
  { request: patience, snapshot: 10_000 },
  after,
);
const panel = document.querySelector<PanelView>('tk-panel')!;
panel.request = (request) => channel.request(request);
reportFaults((fault) => channel.fault(fault));
document.addEventListener('tk-reload', () => channel.resync());
channel.resync();

function memoryOf(state: PanelState): PanelMemory {
  return state.panel === 'analytics' ? { filter: state.filter } : {};
}

/** What a model or the user may be asked for takes its time. */
function patience(method: PanelRequest['method']): number {
  return method === 'compact' || method === 'checkpoint' || method === 'undo_compaction' ? 600_000 : 30_000;
}
