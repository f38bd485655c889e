import { CancellationTokenSource, FileType, workspace, type Uri } from 'vscode';
import type { Passage, WorkspaceText } from '../core/ports';
import { splitPassages } from '../core/recall/splitPassages';
import { fold } from '../core/recall/tokenizeTerms';

/** The most one search reads. On a workspace of any size it stays a matter of a second or two. */
const bounds = { files: 2_000, fileBytes: 256 * 1024, bytes: 24 * 1024 * 1024, milliseconds: 4_000, atOnce: 16 };

/** Never worth searching, whatever the user's settings exclude on top. */
const neverSearched = ['**/node_modules/**', '**/.git/**', '**/*.min.{js,css}', '**/*.map', '**/package-lock.json', '**/yarn.lock', '**/pnpm-lock.yaml', '**/Cargo.lock', '**/*.{png,jpg,jpeg,gif,webp,ico,pdf,zip,gz,tgz,jar,wasm,woff,woff2,ttf,mp3,mp4,mov,exe,dll,so,dylib,bin,db,sqlite,vsix}'];

interface Found extends Passage {
  readonly matched: number;
}

/** Files of the open workspace, through VS Code's search and file system (so also those that are not on this disk). */
export class VscodeWorkspaceText implements WorkspaceText {
  constructor(private readonly isTrusted: () => boolean) {}

  async candidates(terms: readonly string[], limit: number, signal: AbortSignal): Promise<Passage[]> {
    const wanted = [...new Set(terms.map(fold))].filter((term) => term !== '');
    if (!this.isTrusted() || !workspace.workspaceFolders?.length || wanted.length === 0 || signal.aborted) return [];
    const found: Found[] = [];
    const end = Date.now() + bounds.milliseconds;
    let bytes = 0;
    const files = await listFiles(signal);
    // A file that is called what is asked for comes first, in case the bounds end the search.
    const named = (uri: Uri) => (wanted.some((term) => fold(workspace.asRelativePath(uri)).includes(term)) ? 0 : 1);
    const ordered = files.map((uri) => ({ uri, rank: named(uri) })).sort((a, b) => a.rank - b.rank);
    for (let i = 0; i < ordered.length && !signal.aborted && bytes < bounds.bytes && Date.now() < end; i += bounds.atOnce) {
      const texts = await Promise.all(ordered.slice(i, i + bounds.atOnce).map(({ uri }) => readText(uri)));
      for (const file of texts) {
        if (!file) continue;
        bytes += file.text.length;
        found.push(...passagesOf(file, wanted));
      }
    }
    found.sort((a, b) => b.matched - a.matched);
    return found.slice(0, limit).map(({ matched: _, ...passage }) => passage);
  }
}

interface TextFile {
  readonly path: string;
  readonly text: string;
  readonly modifiedAt: number;
}

async function listFiles(signal: AbortSignal): Promise<Uri[]> {
  const cancellation = new CancellationTokenSource();
  const cancel = () => cancellation.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await workspace.findFiles('**/*', `{${[...neverSearched.flatMap(withoutBraces), ...userExcludes()].join(',')}}`, bounds.files, cancellation.token);
  } catch {
    // A file system that cannot be searched has nothing to offer here.
    return [];
  } finally {
    signal.removeEventListener('abort', cancel);
    cancellation.dispose();
  }
}

/** `findFiles` honours `files.exclude` by itself, `search.exclude` not. */
export function userExcludes(): string[] {
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

async function readText(uri: Uri): Promise<TextFile | undefined> {
  try {
    const { type, size, mtime } = await workspace.fs.stat(uri);
    if ((type & FileType.File) === 0 || size === 0 || size > bounds.fileBytes) return undefined;
    const content = await workspace.fs.readFile(uri);
    if (content.subarray(0, 8_000).includes(0)) return undefined;
    return { path: workspace.asRelativePath(uri), text: new TextDecoder().decode(content), modifiedAt: mtime };
  } catch {
    return undefined;
  }
}

function passagesOf({ path, text, modifiedAt }: TextFile, terms: readonly string[]): Found[] {
  const folded = fold(text);
  if (!terms.some((term) => folded.includes(term))) return [];
  return splitPassages(text).flatMap(({ start, end }) => {
    const passage = text.slice(start, end);
    const foldedPassage = fold(passage);
    const matched = terms.filter((term) => foldedPassage.includes(term)).length;
    return matched === 0 ? [] : [{ source: 'file' as const, id: path, title: path, text: passage, at: modifiedAt, matched }];
  });
}
