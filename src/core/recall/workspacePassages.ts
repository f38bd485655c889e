import { CancelledError } from '../errors';
import type { Clock, Passage, WorkspaceText } from '../ports';
import { searchRoots, walkFiles, type FoundFile } from '../tools/guard/walk';
import { decode } from '../tools/files/textFile';
import type { ToolWorkspace } from '../tools/toolWorkspace';
import { splitPassages } from './splitText';
import { fold } from './tokenizeTerms';

export interface WorkspacePassagesDeps {
  readonly workspace: ToolWorkspace;
  readonly clock: Pick<Clock, 'now'>;
  readonly mayRead: () => boolean;
}

/** The most one search reads. On a workspace of any size it stays a matter of a second or two. */
const usualBounds = { files: 5_000, fileBytes: 512 * 1024, characters: 24 * 1024 * 1024, milliseconds: 4_000, atOnce: 16 };

/** Never worth searching, whatever the user's settings exclude on top. */
const neverSearched = [
  ...[
    '.hg',
    '.svn',
    'node_modules',
    'dist',
    'out',
    'build',
    'coverage',
    'target',
    '.venv',
    'venv',
    '__pycache__',
    '.cache',
    '.vscode-test',
    '.next',
    '.idea',
  ].map((folder) => `**/${folder}`),
  '**/*.min.{js,css}',
  '**/*.map',
  '**/{package-lock.json,yarn.lock,pnpm-lock.yaml,Cargo.lock}',
  '**/*.{png,jpg,jpeg,gif,webp,ico,pdf,zip,gz,tgz,jar,wasm,woff,woff2,ttf,mp3,mp4,mov,exe,dll,so,dylib,bin,db,sqlite,vsix}',
];
/** Passages kept before the best are chosen: a word that is everywhere must not fill the memory. */
const keptPerLimit = 10;

/**
 * Passages of a workspace's text files, for answers that quote what they find. Nobody is asked, so it sees what the search tool sees:
 * neither what Git ignores nor what looks secret. Binary and large files, and what cannot be read, are left out.
 */
export class WorkspacePassages implements WorkspaceText {
  constructor(
    private readonly deps: WorkspacePassagesDeps,
    private readonly bounds: Partial<typeof usualBounds> = {},
  ) {}

  /** The passages with the most different terms, in the order of the files. Rejects with `CancelledError` when aborted. */
  async candidates(terms: readonly string[], limit: number, signal: AbortSignal): Promise<Passage[]> {
    const { workspace, clock, mayRead } = this.deps;
    const bounds = { ...usualBounds, ...this.bounds };
    const wanted = [...new Set(terms.map(fold))].filter((term) => term !== '');
    if (signal.aborted) throw new CancelledError();
    if (!mayRead() || wanted.length === 0 || limit <= 0) return [];
    const end = clock.now() + bounds.milliseconds;
    const files = await this.files(wanted, bounds.files, () => clock.now() < end, signal);
    let found: Scored[] = [];
    let characters = 0;
    for (let i = 0; i < files.length && characters < bounds.characters && clock.now() < end; i += bounds.atOnce) {
      if (signal.aborted) throw new CancelledError();
      const texts = await Promise.all(
        files
          .slice(i, i + bounds.atOnce)
          .map(async ({ file, order }) => ({ file, order, ...(await textOf(workspace, file, bounds.fileBytes)) })),
      );
      for (const { file, order, text, at } of texts) {
        if (text === undefined) continue;
        characters += text.length;
        for (const match of matches(file.name, text, at, wanted)) found.push({ ...match, order });
      }
      if (found.length > limit * keptPerLimit) found = best(found, limit);
    }
    return best(found, limit)
      .sort((a, b) => a.order - b.order)
      .map(({ passage }) => passage);
  }

  /** Files that are called what is asked for come first, in case the bounds end the search; `order` is that of the walk. */
  private async files(
    wanted: readonly string[],
    most: number,
    goOn: () => boolean,
    signal: AbortSignal,
  ): Promise<{ readonly file: FoundFile; readonly order: number }[]> {
    const { workspace } = this.deps;
    const files: { readonly file: FoundFile; readonly order: number; readonly rank: number }[] = [];
    for (const root of searchRoots(workspace, null)) {
      await walkFiles(
        workspace,
        root,
        (file) => {
          const name = fold(file.name);
          files.push({ file, order: files.length, rank: wanted.some((term) => name.includes(term)) ? 0 : 1 });
          return files.length < most && goOn();
        },
        signal,
        neverSearched,
      ).catch((error: unknown) => {
        // A folder that cannot be read has nothing to offer here.
        if (CancelledError.is(error)) throw error;
      });
      if (files.length >= most) break;
    }
    return files.sort((a, b) => a.rank - b.rank);
  }
}

interface Scored {
  readonly passage: Passage;
  readonly hits: number;
  readonly order: number;
}

async function textOf(
  workspace: ToolWorkspace,
  { place, name }: FoundFile,
  mostBytes: number,
): Promise<{ readonly text?: string; readonly at: number | null }> {
  try {
    const stat = await workspace.stat(place);
    if (stat?.kind !== 'file' || stat.bytes === 0 || stat.bytes > mostBytes) return { at: null };
    return { text: workspace.unsaved(place) ?? decode(await workspace.read(place), name).text, at: stat.modifiedAt };
  } catch {
    // Binary, or not readable.
    return { at: null };
  }
}

function matches(path: string, text: string, at: number | null, terms: readonly string[]): Omit<Scored, 'order'>[] {
  const folded = fold(text);
  // Upper and lower case of some letters differ in length; then the passages are compared one by one.
  const aligned = folded.length === text.length;
  if (!terms.some((term) => folded.includes(term))) return [];
  const found: Omit<Scored, 'order'>[] = [];
  let line = 1;
  for (const { start, end } of splitPassages(text)) {
    const part = text.slice(start, end);
    const lower = aligned ? folded.slice(start, end) : fold(part);
    const hits = terms.filter((term) => lower.includes(term)).length;
    if (hits > 0) found.push({ passage: { source: 'file', id: path, title: `${path}:${line}`, text: part, at }, hits });
    line += part.split('\n').length - 1;
  }
  return found;
}

function best(found: readonly Scored[], limit: number): Scored[] {
  return [...found].sort((a, b) => b.hits - a.hits || a.order - b.order).slice(0, limit);
}
