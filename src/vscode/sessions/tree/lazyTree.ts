import { EventEmitter, window, type TreeDataProvider, type TreeItem, type TreeView } from 'vscode';
import type { Disposable } from '../../../core/base/disposable';

/** A tree view that VS Code knows before what fills it is loaded: that is asked for when somebody looks. */
export class LazyTree<T> implements Disposable {
  readonly view: TreeView<T>;
  private readonly changed = new EventEmitter<undefined>();

  constructor(id: string, provider: () => Promise<Required<Pick<TreeDataProvider<T>, 'getChildren' | 'getTreeItem'>>>) {
    const treeDataProvider: TreeDataProvider<T> = {
      onDidChangeTreeData: this.changed.event,
      getChildren: async (node) => (await provider()).getChildren(node),
      getTreeItem: async (node): Promise<TreeItem> => (await provider()).getTreeItem(node),
    };
    this.view = window.createTreeView(id, { treeDataProvider, canSelectMany: true, showCollapseAll: false });
  }

  /** Has VS Code ask again. */
  redraw(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }
}
