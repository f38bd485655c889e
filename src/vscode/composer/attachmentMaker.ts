import {
  CancellationTokenSource,
  DiagnosticSeverity,
  extensions,
  FileType,
  languages,
  TabInputText,
  Uri,
  window,
  workspace,
  type CancellationToken,
  type TextEditor,
} from 'vscode';
import { estimateTokens } from '../../core/context/measure/estimateTokens';
import { imageSize, imageTokens, longSide } from '../../core/context/projection/attachments';
import { t } from '../../core/l10n';
import { mentionGlob, rankPaths } from '../../core/mentions/rankPaths';
import type { SessionStore, TokenCounter } from '../../core/ports';
import { mostImageSide, type Attachment } from '../../core/session/userMessage';
import { mostFileBytes, mostImageBytes, type AttachSource, type Mention } from '../../protocol/composer';
import { walkFiles } from '../../core/tools/guard/walk';
import type { Place } from '../../core/tools/guard/workspacePath';
import { attachedFile, plainPath } from '../../node/tools/workspaceFiles';
import { openFolders, placeOf, uriOf, workspacePath } from '../tools/openFolders';
import type { VscodeWorkspace } from '../tools/vscodeWorkspace';
import { lastTextEditor } from '../lastTextEditor';

export interface AttachmentMakerDeps {
  readonly store: () => Promise<Pick<SessionStore, 'putBlob'>>;
  readonly counter: () => Promise<TokenCounter>;
  readonly workspace: () => VscodeWorkspace;
}

/** Choices behind `@` at once, files that are looked at for them, and names in the listing of a folder. */
const bounds = { mentions: 40, found: 500, listed: 1_000, problems: 300 };
const always = ['**/node_modules/**', '**/.git/**'];

/** Makes attachments of what lies in the workspace or was pasted. Rejects, in words for the user, for what cannot be one. */
export class AttachmentMaker {
  private searching: CancellationTokenSource | null = null;

  constructor(private readonly deps: AttachmentMakerDeps) {}

  async make(source: Exclude<AttachSource, { readonly kind: 'terminal' | 'changes' }>): Promise<Attachment> {
    switch (source.kind) {
      case 'image':
        return this.image(source.name, Buffer.from(source.data, 'base64'));
      case 'path':
        return this.resource(fileNamed(source.path));
      case 'uri':
        return this.resource(Uri.parse(source.uri, true));
      case 'selection':
        return this.selection(lastTextEditor());
      case 'problems':
        return this.problems();
    }
  }

  /** What `@` offers; the search before it ends. */
  async mentions(query: string): Promise<Mention[]> {
    this.searching?.cancel();
    const search = (this.searching = new CancellationTokenSource());
    try {
      const paths = await this.paths(query, search.token);
      const matches = search.token.isCancellationRequested ? [] : rankPaths(paths, query, bounds.mentions);
      const files = matches.map(
        ({ path, kind }): Mention => ({
          source: { kind: 'path', path },
          label: path.slice(path.lastIndexOf('/') + 1),
          detail: path.slice(0, Math.max(0, path.lastIndexOf('/'))),
          icon: kind,
        }),
      );
      return [...specials(query), ...files];
    } finally {
      search.dispose();
      if (this.searching === search) this.searching = null;
    }
  }

  async selection(editor: TextEditor | undefined): Promise<Attachment> {
    if (!editor || editor.selection.isEmpty) throw new Error(t('Select some text in an editor first.'));
    const { document, selection } = editor;
    // A selection that ends before the first character of a line takes nothing of that line.
    const last = selection.end.character === 0 && selection.end.line > selection.start.line ? selection.end.line : selection.end.line + 1;
    const path = workspacePath(document.uri);
    const lines: [number, number] = [selection.start.line + 1, last];
    return this.text(document.getText(selection), {
      kind: 'selection',
      name: nameOf(document.uri),
      ...(path === null ? {} : { path }),
      lines,
    });
  }

  /** A file or folder of the workspace. */
  async resource(given: Uri): Promise<Attachment> {
    const uri = given.with({ path: plainPath(given.path) });
    const path = workspacePath(uri);
    const asked = placeOf(uri);
    if (path === null || !asked)
      throw new Error(
        t('“{0}” lies outside of this workspace and is not attached. Copy it into the workspace, or paste its text.', nameOf(uri)),
      );
    const stat = await Promise.resolve(workspace.fs.stat(uri)).catch(() => null);
    if (!stat) throw new Error(t('“{0}” cannot be read.', path));
    const { place, target } = await attachedFile(this.deps.workspace(), asked);
    if (target !== null && !(await askAboutLink(path, target))) throw new Error(t('“{0}” was not attached.', path));
    if ((stat.type & FileType.Directory) !== 0) return this.folder(uri, path, place);
    if (stat.size > Math.max(mostFileBytes, mostImageBytes)) throw tooLarge(path, stat.size);
    // What was agreed to is read, not what the link leads to by now.
    const bytes = place
      ? await this.deps.workspace().read(place)
      : await workspace.fs.readFile(uri.scheme === 'file' && target !== null ? Uri.file(target) : uri);
    return this.content(bytes, nameOf(uri), path);
  }

  /** A file that the user has picked in a dialog, wherever it lies. */
  async chosen(uri: Uri): Promise<Attachment> {
    if (workspace.getWorkspaceFolder(uri)) return this.resource(uri);
    const { size } = await workspace.fs.stat(uri);
    if (size > Math.max(mostFileBytes, mostImageBytes)) throw tooLarge(nameOf(uri), size);
    return this.content(await workspace.fs.readFile(uri), nameOf(uri));
  }

  private async content(bytes: Uint8Array, name: string, path?: string): Promise<Attachment> {
    const where = path === undefined ? {} : { path };
    if (imageSize(bytes)) return { ...(await this.image(name, bytes)), ...where };
    if (bytes.length > mostFileBytes) throw tooLarge(path ?? name, bytes.length);
    if (bytes.subarray(0, 8_000).includes(0))
      throw new Error(t('“{0}” is a binary file: only text and images (png, jpeg, webp, gif) can be attached.', path ?? name));
    return this.text(new TextDecoder().decode(bytes), { kind: 'file', name, ...where });
  }

  private async image(name: string, bytes: Uint8Array): Promise<Attachment> {
    const size = imageSize(bytes);
    if (!size) throw new Error(t('“{0}” is no image that models take: png, jpeg, webp and gif are.', name));
    if (bytes.length > mostImageBytes)
      throw new Error(
        t(
          'The image “{0}” has {1}; models take {2} at most. Make it smaller first.',
          name,
          megabytes(bytes.length),
          megabytes(mostImageBytes),
        ),
      );
    if (longSide(size) > mostImageSide)
      throw new Error(
        t(
          'The image “{0}” has {1} × {2} pixels; models take {3} a side at most. Attach a smaller copy, or the part that matters.',
          name,
          size.width,
          size.height,
          mostImageSide,
        ),
      );
    const hash = await (await this.deps.store()).putBlob(bytes, size.mime);
    return { kind: 'image', name, hash, mime: size.mime, tokens: imageTokens(size) };
  }

  /** Its names as the tools would list them: without what Git ignores, and no link followed. */
  private async folder(uri: Uri, path: string, place: Place | null): Promise<Attachment> {
    if (!place) throw new Error(t('“{0}” is a folder outside of this workspace and is not attached. Attach its files one by one.', path));
    const names: string[] = [];
    const collect = (file: { readonly place: Place }) =>
      names.push(file.place.path.slice(place.path === '' ? 0 : place.path.length + 1)) < bounds.listed;
    await walkFiles(this.deps.workspace(), place, collect, new AbortController().signal);
    names.sort();
    const more = names.length === bounds.listed ? [`… and more: only ${bounds.listed} are listed`] : [];
    return this.text([...names, ...more].join('\n'), { kind: 'folder', name: nameOf(uri), path });
  }

  async problems(): Promise<Attachment> {
    const folders = openFolders();
    const all = languages.getDiagnostics().flatMap(([uri, diagnostics]) => {
      const path = workspacePath(uri, folders) ?? workspace.asRelativePath(uri);
      return diagnostics.map((one) => ({ one, path }));
    });
    if (all.length === 0) throw new Error(t('There are no problems to attach: the Problems view is empty.'));
    all.sort((a, b) => a.one.severity - b.one.severity);
    const lines = all
      .slice(0, bounds.problems)
      .map(
        ({ one, path }) =>
          `${path}:${one.range.start.line + 1}:${one.range.start.character + 1} ${DiagnosticSeverity[one.severity]}: ${one.message}${one.source ? ` (${one.source})` : ''}`,
      );
    const more = all.length > bounds.problems ? [`… and ${all.length - bounds.problems} more`] : [];
    return this.text([...lines, ...more].join('\n'), { kind: 'problems', name: t('Problems') });
  }

  /** Rejects for what is too large. */
  async text(text: string, about: Pick<Attachment, 'kind' | 'name' | 'path' | 'lines'>): Promise<Attachment> {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > mostFileBytes) throw tooLarge(about.path ?? about.name, bytes.length);
    const [hash, [tokens = estimateTokens(text)]] = await Promise.all([
      this.deps.store().then((store) => store.putBlob(bytes, 'text/plain')),
      this.deps.counter().then((counter) => counter.count([text])),
    ]);
    return { ...about, hash, mime: 'text/plain', tokens };
  }

  private async paths(query: string, token: CancellationToken): Promise<string[]> {
    const folders = openFolders();
    const open = window.tabGroups.all
      .flatMap(({ tabs }) => tabs.flatMap(({ input }) => (input instanceof TabInputText ? [workspacePath(input.uri, folders)] : [])))
      .filter((path) => path !== null);
    const found = await workspace.findFiles(mentionGlob(query), excludes(), bounds.found, token);
    const paths = found.flatMap((uri) => workspacePath(uri, folders) ?? []);
    // Without a query what is open comes first; `rankPaths` keeps the order of none.
    return query === '' ? [...new Set([...open, ...paths])].slice(0, bounds.mentions) : [...new Set([...open, ...paths])];
  }
}

function specials(query: string): Mention[] {
  const all: Mention[] = [];
  const editor = lastTextEditor();
  if (editor && !editor.selection.isEmpty)
    all.push({ source: { kind: 'selection' }, label: t('Selection'), detail: nameOf(editor.document.uri), icon: 'selection' });
  const problems = languages.getDiagnostics().reduce((sum, [, diagnostics]) => sum + diagnostics.length, 0);
  if (problems > 0) all.push({ source: { kind: 'problems' }, label: t('Problems'), detail: String(problems), icon: 'problems' });
  if (window.activeTerminal)
    all.push({ source: { kind: 'terminal' }, label: t('Terminal Output'), detail: window.activeTerminal.name, icon: 'terminal' });
  if (extensions.getExtension('vscode.git')?.isActive === true)
    all.push({ source: { kind: 'changes' }, label: t('Changes'), detail: t('of Git, not committed'), icon: 'changes' });
  return all.filter(({ label }) => label.toLowerCase().startsWith(query.toLowerCase()));
}

/** The user named a file, and something else would be read. */
async function askAboutLink(path: string, target: string): Promise<boolean> {
  const attach = t('Attach');
  const question = t('“{0}” is a link. Attach what it leads to?', path);
  return (
    (await window.showWarningMessage(
      question,
      { modal: true, detail: t('It leads to {0}. Its content would be sent to the model.', target) },
      attach,
    )) === attach
  );
}

/** `findFiles` honours `files.exclude` only while it is given no other. */
function excludes(): string {
  const files = workspace.getConfiguration('files').get<Record<string, unknown>>('exclude') ?? {};
  const own = Object.entries(files).flatMap(([pattern, on]) => (on === true && !/[{}]/.test(pattern) ? [pattern, `${pattern}/**`] : []));
  return `{${[...new Set([...always, ...own, ...userExcludes()])].join(',')}}`;
}

/** `findFiles` honours `files.exclude` by itself, `search.exclude` not. */
function userExcludes(): string[] {
  const excludes = workspace.getConfiguration('search').get<Record<string, unknown>>('exclude') ?? {};
  return Object.entries(excludes).flatMap(([pattern, on]) => (on === true ? withoutBraces(pattern) : []));
}

/** Alternatives within alternatives are not understood by every search engine VS Code uses. */
function withoutBraces(pattern: string): string[] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern);
  if (!match) return pattern.includes('{') || pattern.includes('}') ? [] : [pattern];
  const [, before = '', choices = '', after = ''] = match;
  return choices.split(',').flatMap((choice) => withoutBraces(`${before}${choice}${after}`));
}

function fileNamed(path: string): Uri {
  const uri = uriOf(path);
  if (!uri) throw new Error(t('Open a folder first: files are attached from the workspace.'));
  return uri;
}

function nameOf(uri: Uri): string {
  return uri.path.slice(uri.path.lastIndexOf('/') + 1);
}

function tooLarge(name: string, bytes: number): Error {
  return new Error(
    t(
      '“{0}” has {1}; at most {2} of text are attached. Select the part that matters and add the selection.',
      name,
      megabytes(bytes),
      megabytes(mostFileBytes),
    ),
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}
