import {
  Disposable as VscodeDisposable,
  EventEmitter,
  FileSystemError,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type Uri,
} from 'vscode';
import { DisposableStore, type Disposable } from '../core/base/disposable';

/** Documents of a scheme of ours that can be read and saved, each by itself: there is no folder to list, and nothing to move or delete. */
export abstract class DocumentFiles implements FileSystemProvider, Disposable {
  protected readonly disposables = new DisposableStore();
  protected readonly changed = this.disposables.add(new EventEmitter<FileChangeEvent[]>());
  readonly onDidChangeFile = this.changed.event;

  abstract stat(uri: Uri): FileStat | Promise<FileStat>;
  abstract readFile(uri: Uri): Uint8Array | Promise<Uint8Array>;
  abstract writeFile(uri: Uri, bytes: Uint8Array): void | Promise<void>;

  watch(): VscodeDisposable {
    return new VscodeDisposable(() => undefined);
  }

  readDirectory(): never {
    throw FileSystemError.NoPermissions();
  }

  createDirectory(): never {
    throw FileSystemError.NoPermissions();
  }

  delete(): never {
    throw FileSystemError.NoPermissions();
  }

  rename(): never {
    throw FileSystemError.NoPermissions();
  }

  dispose(): void {
    this.disposables.dispose();
  }
}
