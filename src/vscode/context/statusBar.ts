import { MarkdownString, StatusBarAlignment, ThemeColor, window, type StatusBarItem } from 'vscode';
import type { Spending } from '../../core/cost/spending';
import type { ContextSnapshot } from '../../core/context/measure/snapshot';
import { t } from '../../core/l10n';
import type { Disposable } from '../../core/base/disposable';
import type { PolicyProblem } from '../../core/context/policy/resolvePolicy';
import type { WindowState, RememberedMeter } from '../chat/windowState';
import type { ChatState } from '../chat/chatController';
import { commandIds, statusItemId } from '../manifest';
import { statusView } from './statusText';
import { escapeMarkdown } from '../plainText';
import { waitingView, type WaitingSession } from '../chat/waitingSession';

/** What is shown is remembered at most this often. */
const rememberEveryMs = 2_000;

const backgrounds = { normal: undefined, warning: 'statusBarItem.warningBackground', error: 'statusBarItem.errorBackground' } as const;

export interface StatusBarDeps {
  readonly memory: Pick<WindowState, 'lastMeter' | 'setLastMeter'>;
  /** What the setting says. */
  readonly isVisible: () => boolean;
}

/**
 * The meter on the right of the status bar. Before anything is opened it shows what it showed last, marked `~`; while a session waits for
 * its user, that it does.
 */
export class StatusBar implements Disposable {
  private readonly item: StatusBarItem;
  private context: ContextSnapshot | null = null;
  /** It stems from an earlier run of VS Code; null once something has been opened. */
  private remembered: RememberedMeter | null;
  private compacting = false;
  private waiting: readonly WaitingSession[] = [];
  private timer: NodeJS.Timeout | null = null;
  private drawn = '';
  private spending: Spending | null = null;
  private problems: readonly PolicyProblem[] = [];
  private sync: { readonly long: string; readonly isProblem: boolean } | null = null;

  constructor(private readonly deps: StatusBarDeps) {
    this.item = window.createStatusBarItem(statusItemId, StatusBarAlignment.Right, 90);
    this.item.name = t('Threadkeeper Context');
    this.remembered = deps.memory.lastMeter();
    this.draw();
  }

  update(state: ChatState): void {
    this.compacting = state.compacting;
    this.waiting = state.waiting;
    if (state.context !== this.context || (this.remembered !== null && state.isOpened)) {
      this.context = state.context;
      this.remembered = null;
      this.timer ??= setTimeout(() => this.remember(), rememberEveryMs);
    }
    this.draw();
  }

  showSpending(spending: Spending): void {
    this.spending = spending;
    this.draw();
  }

  /** How synchronizing stands; null: it is off. */
  showSync(sync: { readonly long: string; readonly isProblem: boolean } | null): void {
    this.sync = sync;
    this.draw();
  }

  /** Settings that cannot be used. */
  showProblems(problems: readonly PolicyProblem[]): void {
    this.problems = problems;
    this.draw();
  }

  dispose(): void {
    if (this.timer) this.remember();
    this.item.dispose();
  }

  draw(): void {
    const { context, compacting, problems, spending } = this;
    const asks = waitingView(this.waiting);
    const view =
      asks ?? this.remembered ?? (context && statusView({ snapshot: context, remembered: false, compacting, problems, spending }));
    if (!view?.text || !this.deps.isVisible()) {
      this.drawn = '';
      return this.item.hide();
    }
    const sync = this.sync ? `${this.sync.isProblem ? '$(warning)' : '$(sync)'} ${escapeMarkdown(this.sync.long)}` : '';
    const text = JSON.stringify([view, sync]);
    if (text === this.drawn) return;
    this.drawn = text;
    const tooltip = new MarkdownString([view.tooltip, sync].filter((part) => part !== '').join('\n\n'), true);
    tooltip.isTrusted = { enabledCommands: Object.values(commandIds) };
    this.item.text = view.text;
    this.item.command = asks
      ? { command: commandIds.openSession, title: t('Open'), arguments: [asks.open] }
      : { command: commandIds.showBreakdown, title: t('Show Context Breakdown') };
    this.item.tooltip = tooltip;
    this.item.backgroundColor = backgrounds[view.severity] ? new ThemeColor(backgrounds[view.severity]!) : undefined;
    this.item.accessibilityInformation = { label: view.label, role: 'button' };
    this.item.show();
  }

  private remember(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const { context } = this;
    const view = context && statusView({ snapshot: context, remembered: true, compacting: false, problems: [], spending: null });
    void this.deps.memory.setLastMeter(context && view && { ...view, canUndo: context.compactions > 0 });
  }
}
