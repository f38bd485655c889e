import type { Uri, WebviewPanel } from 'vscode';
import { analyse } from '../../core/analytics/analyse';
import { lastDays } from '../../core/analytics/report';
import { costOf, priceOf, type PriceTable } from '../../core/cost/prices';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import { PanelMemory, type AnalyticsFilter, type PanelRequest, type PanelState } from '../../protocol/panels';
import type { ChatPlaces } from '../chat/places/chatPlaces';
import { analyticsPanelType } from '../manifest';
import { PanelPage } from './panelPage';
import type { StoreAccess } from '../history/storeAccess';

export interface AnalyticsPanelDeps {
  readonly extensionUri: Uri;
  readonly chats: Pick<ChatPlaces, 'onDidChangeState'>;
  readonly store: StoreAccess;
  readonly openSession: (uuid: string) => Promise<void>;
  readonly prices: () => PriceTable;
  readonly now: () => number;
  readonly log: Logger;
}

const everything: AnalyticsFilter = { days: 7, workspace: null, model: null, tag: null };

/** How the history has grown and what it has cost. Counts anew when an answer has ended: it reads a row of every entry. */
export class AnalyticsPanel implements Disposable {
  private readonly disposables = new DisposableStore();
  private page: PanelPage | null = null;
  private filter = everything;
  private wasBusy = false;

  constructor(private readonly deps: AnalyticsPanelDeps) {
    this.disposables.add(
      deps.chats.onDidChangeState(({ busy }) => {
        if (this.wasBusy && !busy) this.page?.refresh();
        this.wasBusy = busy;
      }),
    );
  }

  /** After a reload of the window, with what the page has remembered. */
  restore(panel: WebviewPanel, state: unknown): void {
    if (this.page) return panel.dispose();
    this.filter = PanelMemory.safeParse(state).data?.filter ?? everything;
    this.open(panel);
  }

  show(): void {
    if (this.page) this.page.reveal();
    else this.open();
  }

  dispose(): void {
    this.page?.dispose();
    this.disposables.dispose();
  }

  private open(restored?: WebviewPanel): void {
    const { extensionUri, log } = this.deps;
    this.page = new PanelPage({
      restored,
      extensionUri,
      viewType: analyticsPanelType,
      title: t('Analytics'),
      state: () => this.state(),
      handle: (request) => this.handle(request),
      closed: () => (this.page = null),
      log,
    });
  }

  private async state(): Promise<PanelState> {
    const { store, now, prices } = this.deps;
    const { filter } = this;
    const { days, workspace, model, tag } = filter;
    const range = lastDays(days, now());
    const rows = await (await store.get()).analyticsRows(range);
    const report = analyse(rows, range, {
      ...(workspace === null ? {} : { workspace }),
      ...(model === null ? {} : { model }),
      ...(tag === null ? {} : { tag }),
      costOf: (provider, id, usage) => costOf(priceOf(prices(), provider, id), usage),
    });
    return { panel: 'analytics', filter, report };
  }

  private async handle(request: PanelRequest): Promise<void> {
    switch (request.method) {
      case 'filter':
        this.filter = request.filter;
        return this.page?.refresh();
      case 'open_session':
        return this.deps.openSession(request.uuid);
      default:
        throw new Error(t('This panel cannot do that.'));
    }
  }
}
