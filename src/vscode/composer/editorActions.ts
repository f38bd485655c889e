import { commands, env, FileType, languages, Range, SnippetString, Uri, ViewColumn, window, workspace } from 'vscode';
import { t } from '../../core/l10n';
import { toPlace } from '../../core/tools/guard/workspacePath';
import { ToolFault } from '../../core/tools/tool';
import { extensionId } from '../manifest';
import { openFolders } from '../tools/openFolders';
import { fileLink, type FileLink } from './fileLink';
import { lastTextEditor } from '../lastTextEditor';

const webAddress = /^(?:https?|mailto):/i;

/**
 * Opens a link of an answer: in the browser, with VS Code asking before it leaves, or in an editor. Rejects for anything that is
 * neither a plain web address nor a file of the workspace.
 */
export async function openLink(href: string): Promise<void> {
  // Only these: Uri.parse throws at `my%20file.ts:3`, whose scheme would have a sign that none has.
  if (webAddress.test(href.trim())) return void (await env.openExternal(Uri.parse(href.trim())));
  const link = fileLink(href);
  if (!link) throw new Error(t('Only web addresses, mail addresses and files of the workspace are opened from here.'));
  await openFile(link);
}

async function openFile(link: FileLink): Promise<void> {
  const uri = await fileOf(link.path);
  if (!uri) throw new Error(t('“{0}” is not a file of this workspace.', link.path));
  const selection = link.line === null ? undefined : new Range(link.line - 1, 0, link.line - 1, 0);
  await commands.executeCommand('vscode.open', uri, selection ? { selection } : {});
}

/** Returns those of the links that `openLink` would open as files: looked up, not guessed. */
export async function existingFiles(hrefs: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    hrefs.map(async (href) => {
      const link = webAddress.test(href) ? null : fileLink(href);
      return link !== null && (await fileOf(link.path)) !== null;
    }),
  );
  return hrefs.filter((_, index) => found[index]);
}

/** Null for what is not a file of the workspace. */
export async function fileOf(path: string): Promise<Uri | null> {
  for (const uri of urisOf(path)) if (await isFile(uri)) return uri;
  return null;
}

/** What a path of an answer may mean, the likeliest first. An answer may name anything: what lies outside of the workspace is left out. */
export function urisOf(path: string): readonly Uri[] {
  const text = path.replaceAll('\\', '/');
  const isAbsolute = text.startsWith('/') || /^[a-z]:/i.test(text);
  const absolute = text.startsWith('/') ? text : `/${text}`;
  const inFolders = (workspace.workspaceFolders ?? []).map(({ uri }) =>
    isAbsolute ? uri.with({ path: absolute }) : Uri.joinPath(uri, text),
  );
  const named = inNamedFolder(text);
  return [...(named ? [named] : []), ...inFolders].filter((uri) => workspace.getWorkspaceFolder(uri));
}

/** With several folders, models are taught to begin a path with the name of one. */
function inNamedFolder(path: string): Uri | null {
  const folders = openFolders();
  if (folders.length < 2) return null;
  try {
    const place = toPlace(path, folders);
    return Uri.joinPath(workspace.workspaceFolders![place.folder]!.uri, place.path);
  } catch (error) {
    if (ToolFault.is(error)) return null;
    throw error;
  }
}

async function isFile(uri: Uri): Promise<boolean> {
  try {
    return ((await workspace.fs.stat(uri)).type & FileType.File) !== 0;
  } catch {
    return false;
  }
}

export async function copyText(text: string): Promise<void> {
  await env.clipboard.writeText(text);
}

/** At the cursor of the editor that was used last; a selection is replaced. */
export async function insertCode(text: string): Promise<void> {
  const editor = lastTextEditor() ?? window.visibleTextEditors[0];
  if (!editor) throw new Error(t('Open a file first: the code goes to its cursor.'));
  // A snippet is indented like the line it goes to; as plain text, because code may contain what snippets give a meaning to.
  const inserted = await editor.insertSnippet(new SnippetString().appendText(text));
  if (!inserted) throw new Error(t('The file cannot be edited.'));
  await window.showTextDocument(editor.document, editor.viewColumn ?? ViewColumn.Active);
}

export async function openCode(text: string, language: string): Promise<void> {
  const known = await languages.getLanguages();
  const wanted = language.trim().toLowerCase();
  const id = [wanted, aliases[wanted]].find((name) => name !== undefined && known.includes(name));
  const document = await workspace.openTextDocument({ content: text, ...(id ? { language: id } : {}) });
  await window.showTextDocument(document);
}

export async function openSettings(): Promise<void> {
  await commands.executeCommand('workbench.action.openSettings', `@ext:${extensionId}`);
}

export async function manageTrust(): Promise<void> {
  await commands.executeCommand('workbench.trust.manage');
}

export async function openWalkthrough(): Promise<void> {
  await commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#start`);
}

/** What people write after a fence, where it is not VS Code's own id. */
const aliases: Readonly<Record<string, string>> = {
  ts: 'typescript',
  tsx: 'typescriptreact',
  js: 'javascript',
  jsx: 'javascriptreact',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  cs: 'csharp',
  'c++': 'cpp',
  sh: 'shellscript',
  bash: 'shellscript',
  shell: 'shellscript',
  zsh: 'shellscript',
  ps1: 'powershell',
  yml: 'yaml',
  md: 'markdown',
  golang: 'go',
  docker: 'dockerfile',
  make: 'makefile',
};
