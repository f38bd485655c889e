import Module from 'node:module';
import { posix } from 'node:path';

/**
 * What the module `vscode` has as `window`, `workspace`, `commands` and `env` in a test process, which has none: the test says what its
 * dialogs answer and what is open. The process has it from its start.
 */
export const windowDouble: Record<'window' | 'workspace' | 'commands' | 'env', Record<string, unknown>> = {
  window: {},
  workspace: {},
  commands: {},
  env: {},
};

/** A file on disk by its path. */
export class UriDouble {
  readonly scheme = 'file';

  private constructor(readonly path: string) {}

  static file(path: string): UriDouble {
    return new UriDouble(path);
  }

  static joinPath({ path }: UriDouble, ...names: string[]): UriDouble {
    return new UriDouble(posix.join(path, ...names));
  }

  get fsPath(): string {
    return this.path;
  }

  with({ path }: { readonly path: string }): UriDouble {
    return new UriDouble(path);
  }
}

const loader = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
const load = loader._load;
const said = (part: keyof typeof windowDouble) => new Proxy({}, { get: (_, name: string) => windowDouble[part][name] });
const vscode = {
  window: said('window'),
  workspace: said('workspace'),
  commands: said('commands'),
  env: said('env'),
  Uri: UriDouble,
  FileType: { File: 1, Directory: 2, SymbolicLink: 64 },
  DiagnosticSeverity: {},
  ProgressLocation: { Notification: 15 },
  WorkspaceEdit: class {
    readonly created: unknown[] = [];
    createFile(uri: unknown): void {
      this.created.push(uri);
    }
  },
};
loader._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));
