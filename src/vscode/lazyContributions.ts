import {
  workspace,
  DataTransferItem,
  EventEmitter,
  window,
  type FileStat,
  type FileSystemProvider,
  type Uri,
  type TreeDataProvider,
  type TreeDragAndDropController,
  type TreeItem,
  type TreeView,
} from 'vscode';
import { DocumentFiles } from './documentFiles';
import type { Disposable } from '../core/base/disposable';

/** Documents of a scheme that VS Code may open, after a reload, before what serves them is loaded. */
export class LazyFiles extends DocumentFiles {
  private served: Promise<FileSystemProvider> | undefined;

  constructor(
    scheme: string,
    private readonly provider: () => Promise<FileSystemProvider>,
  ) {
    super();
    this.disposables.add(workspace.registerFileSystemProvider(scheme, this, { isCaseSensitive: true }));
  }

  async stat(uri: Uri): Promise<FileStat> {
    return (await this.files()).stat(uri);
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return (await this.files()).readFile(uri);
  }

  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    await (await this.files()).writeFile(uri, bytes, { create: false, overwrite: true });
  }

  /** What has never been asked for has no changes that anybody could miss. */
  private files(): Promise<FileSystemProvider> {
    return (this.served ??= this.provider().then((files) => {
      this.disposables.add(files.onDidChangeFile((changes) => this.changed.fire(changes)));
      return files;
    }));
  }
}

/** VS Code opens what is dropped into its editor area under this type. */
const uriList = 'text/uri-list';

/** A tree view that VS Code knows before what fills it is loaded: that is asked for when somebody looks. */
export class LazyTree<T> implements Disposable {
  readonly view: TreeView<T>;
  private readonly changed = new EventEmitter<undefined>();

  /** `dragged`: what a row opens when it is dropped into the editor area. */
  constructor(
    id: string,
    provider: () => Promise<Required<Pick<TreeDataProvider<T>, 'getChildren' | 'getTreeItem' | 'getParent'>>>,
    dragged: (node: T) => Uri | null,
  ) {
    const treeDataProvider: TreeDataProvider<T> = {
      onDidChangeTreeData: this.changed.event,
      getChildren: async (node) => (await provider()).getChildren(node),
      getTreeItem: async (node): Promise<TreeItem> => (await provider()).getTreeItem(node),
      getParent: async (node) => (await provider()).getParent(node),
    };
    const dragAndDropController: TreeDragAndDropController<T> = {
      dragMimeTypes: [uriList],
      dropMimeTypes: [],
      handleDrag: (nodes, transfer) => {
        const uris = nodes.flatMap((node) => dragged(node) ?? []);
        if (uris.length > 0) transfer.set(uriList, new DataTransferItem(uris.join('\r\n')));
      },
    };
    this.view = window.createTreeView(id, { treeDataProvider, dragAndDropController, canSelectMany: true, showCollapseAll: false });
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
