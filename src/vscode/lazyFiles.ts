import { workspace, type FileStat, type FileSystemProvider, type Uri } from 'vscode';
import { DocumentFiles } from './documentFiles';

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
