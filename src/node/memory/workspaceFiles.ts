import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CancelledError } from '../../core/errors';
import type { Passage, WorkspaceText } from '../../core/ports';
import { splitPassages } from '../../core/recall/splitPassages';

export interface WorkspaceLimits {
  readonly files: number;
  readonly bytesPerFile: number;
}

const defaultLimits: WorkspaceLimits = { files: 5_000, bytesPerFile: 512 * 1024 };
const ignored = new Set(['.git', '.hg', '.svn', 'node_modules', 'dist', 'out', 'build', 'coverage', 'target', '.venv', 'venv', '__pycache__', '.cache', '.vscode-test', '.next', '.idea']);
const readAtOnce = 8;
/** Passages kept before the best are chosen: a word that is everywhere must not fill the memory. */
const keptPerLimit = 10;

/**
 * The text files of a folder, for programs without a search of their own. Links are not followed; binary and large files, and
 * what cannot be read, are left out.
 */
export class WorkspaceFiles implements WorkspaceText {
  constructor(
    private readonly folder: string,
    private readonly limits: WorkspaceLimits = defaultLimits,
  ) {}

  /** The passages with the most different terms, in the order of the files. Rejects with `CancelledError` when aborted. */
  async candidates(terms: readonly string[], limit: number, signal: AbortSignal): Promise<Passage[]> {
    const wanted = [...new Set(terms.map((term) => term.toLowerCase()))].filter((term) => term !== '');
    if (wanted.length === 0 || limit <= 0) return [];
    let found: Scored[] = [];
    let order = 0;
    const files = await this.walk(signal);
    for (let i = 0; i < files.length; i += readAtOnce) {
      if (signal.aborted) throw new CancelledError();
      const texts = await Promise.all(files.slice(i, i + readAtOnce).map(async (path) => ({ path, text: await this.text(path) })));
      for (const { path, text } of texts) {
        if (text !== null) for (const match of matches(path, text, wanted)) found.push({ ...match, order: order++ });
      }
      if (found.length > limit * keptPerLimit) found = best(found, limit);
    }
    return best(found, limit)
      .sort((a, b) => a.order - b.order)
      .map(({ passage }) => passage);
  }

  /** Relative paths with `/`, sorted, folders after the files beside them: what is near the root is found within the bounds. */
  private async walk(signal: AbortSignal): Promise<string[]> {
    const files: string[] = [];
    let folders = [''];
    while (folders.length > 0 && files.length < this.limits.files) {
      const next: string[] = [];
      for (const folder of folders) {
        if (signal.aborted) throw new CancelledError();
        if (files.length >= this.limits.files) break;
        const entries = await readdir(join(this.folder, folder), { withFileTypes: true }).catch(() => []);
        for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
          const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
          if (entry.isDirectory() && !ignored.has(entry.name)) next.push(path);
          else if (entry.isFile() && files.length < this.limits.files) files.push(path);
        }
      }
      folders = next;
    }
    return files;
  }

  private async text(path: string): Promise<string | null> {
    const handle = await open(join(this.folder, path), 'r').catch(() => null);
    if (handle === null) return null;
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.size > this.limits.bytesPerFile) return null;
      const bytes = await handle.readFile();
      return bytes.subarray(0, 8_192).includes(0) ? null : bytes.toString('utf8');
    } catch {
      return null;
    } finally {
      await handle.close().catch(() => undefined);
    }
  }
}

interface Scored {
  readonly passage: Passage;
  readonly hits: number;
  readonly order: number;
}

function matches(path: string, text: string, terms: readonly string[]): Omit<Scored, 'order'>[] {
  const folded = text.toLowerCase();
  // Upper and lower case of some letters differ in length; then the passages are compared one by one.
  const aligned = folded.length === text.length;
  if (!terms.some((term) => folded.includes(term))) return [];
  const found: Omit<Scored, 'order'>[] = [];
  let line = 1;
  for (const { start, end } of splitPassages(text)) {
    const part = text.slice(start, end);
    const lower = aligned ? folded.slice(start, end) : part.toLowerCase();
    const hits = terms.filter((term) => lower.includes(term)).length;
    if (hits > 0) found.push({ passage: { source: 'file', id: path, title: `${path}:${line}`, text: part, at: null }, hits });
    line += part.split('\n').length - 1;
  }
  return found;
}

function best(found: readonly Scored[], limit: number): Scored[] {
  return [...found].sort((a, b) => b.hits - a.hits || a.order - b.order).slice(0, limit);
}
