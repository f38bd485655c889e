import { MarkdownString, StatusBarAlignment, ThemeColor, window, type StatusBarItem } from 'vscode';
import type { Spending } from '../core/cost/spending';
import type { ContextSnapshot } from '../core/context/snapshot';
import { t } from '../core/l10n';
import { DisposableStore, type Disposable } from '../core/base/disposable';
import type { ChatMemory } from './chatMemory';
import type { ChatState } from './chatController';
import type { Configuration } from './configuration';
import { commandIds, statusItemId } from './contributions';
import { statusView } from './statusText';

/** The last snapshot is written at most this often. */
const rememberEveryMs = 2_000;

const backgrounds = { normal: undefined, warning: 'statusBarItem.warningBackground', error: 'statusBarItem.errorBackground' } as const;

/** The meter on the right of the status bar. Before anything is opened it shows what it showed last, marked `~`. */
export class StatusBar implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly item: StatusBarItem;
  private context: ContextSnapshot | null;
  private remembered: boolean;
  private compacting = false;
  private timer: NodeJS.Timeout | null = null;
  private drawn = '';
  private spending: Spending | null = null;

  constructor(
    private readonly configuration: Configuration,
    private readonly memory: ChatMemory,
  ) {
    this.item = this.disposables.add(window.createStatusBarItem(statusItemId, StatusBarAlignment.Right, 90));
    this.item.name = t('Threadkeeper Context');
    this.item.command = { command: commandIds.showBreakdown, title: t('Show Context Breakdown') };
    this.context = memory.lastContext();
    this.remembered = this.context !== null;
    this.disposables.add(configuration.onDidChange(() => this.draw()));
    this.draw();
  }

  update(state: ChatState): void {
    this.compacting = state.compacting;
    if (state.context !== this.context) {
      this.context = state.context;
      this.remembered = false;
      this.timer ??= setTimeout(() => this.remember(), rememberEveryMs);
    }
    this.draw();
  }

  showSpending(spending: Spending): void {
    this.spending = spending;
    this.draw();
  }

  dispose(): void {
    if (this.timer) this.remember();
    this.disposables.dispose();
  }

  private draw(): void {
    const { context } = this;
    if (!context || !this.configuration.current.statusBarVisible) {
      this.drawn = '';
      return this.item.hide();
    }
    const view = statusView({ snapshot: context, remembered: this.remembered, compacting: this.compacting, problems: this.configuration.problems, spending: this.spending });
    const text = JSON.stringify(view);
    if (text === this.drawn) return;
    this.drawn = text;
    const tooltip = new MarkdownString(view.tooltip, true);
    tooltip.isTrusted = { enabledCommands: Object.values(commandIds) };
    this.item.text = view.text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor = backgrounds[view.severity] ? new ThemeColor(backgrounds[view.severity]!) : undefined;
    this.item.accessibilityInformation = { label: view.label, role: 'button' };
    this.item.show();
  }

  private remember(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    void this.memory.setLastContext(this.context);
  }
}
