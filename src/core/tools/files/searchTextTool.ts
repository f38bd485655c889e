import * as z from 'zod/mini';
import { t } from '../../l10n';
import { globMatcher } from '../guard/glob';
import { assertAsked, locate, readQuestion, type Located } from '../guard/located';
import { decode, linesOf } from './textFile';
import { toolInput, type Tool } from '../tool';
import type { LineMatcher, ToolWorkspace } from '../toolWorkspace';
import { searchRoots, walkFiles } from '../guard/walk';

const Input = z.object({
  text: z.string().check(z.minLength(1), z.maxLength(1_000)),
  regex: z.optional(z.boolean()),
  ignore_case: z.optional(z.boolean()),
  files: z.optional(z.string().check(z.maxLength(500))),
  path: z.optional(z.string()),
});

/** One search is bounded in the files that are looked into, their size, the matches that are shown, and the characters of a line. */
const bounds = { files: 20_000, fileBytes: 1024 * 1024, matches: 100, perFile: 10, line: 300 };

export function createSearchTextTool(workspace: ToolWorkspace): Tool {
  const question = (text: string, located: Located | null) =>
    readQuestion(
      located ? t('Search {0} for {1}', located.shown, JSON.stringify(text)) : t('Search the workspace for {0}', JSON.stringify(text)),
      located,
    );
  return {
    name: 'search_text',
    description:
      'Search the text of the workspace’s files, line by line. Files that Git ignores, that look like secrets, binary files and files above 1 MB are left out.',
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'What to look for, as it stands.' },
        regex: { type: 'boolean', description: 'text is a regular expression (JavaScript), matched against one line at a time.' },
        ignore_case: { type: 'boolean' },
        files: { type: 'string', description: 'Only in files that match, for example *.ts or src/**/*.css.' },
        path: { type: 'string', description: 'Only below this folder.' },
      },
      required: ['text'],
      additionalProperties: false,
    },
    access: 'read',
    timeoutMs: 60_000,
    async needsApproval(value) {
      const { text, path } = toolInput(Input, value);
      return question(text, path === undefined ? null : await locate(workspace, path));
    },
    async run(value, signal, run) {
      const { text, regex = false, ignore_case: ignoreCase = false, files: pattern, path } = toolInput(Input, value);
      const located = path === undefined ? null : await locate(workspace, path);
      assertAsked(question(text, located), run?.approved);
      const within = located?.place ?? null;
      const wanted =
        pattern === undefined ? () => true : globMatcher(pattern.includes('/') ? pattern : `**/${pattern}`, { ignoreCase: true });
      const fold = (line: string) => (ignoreCase ? line.toLowerCase() : line);
      const needle = fold(text);
      const plain = async (lines: readonly string[]) => lines.flatMap((line, i) => (fold(line).includes(needle) ? [i + 1] : []));
      const matcher: LineMatcher = regex ? workspace.lineMatcher(text, ignoreCase, signal) : { numbers: plain, dispose: () => undefined };

      const found: string[] = [];
      const totals = { files: 0, matches: 0, inFiles: 0, leftOut: 0, complete: true };
      try {
        for (const root of searchRoots(workspace, within)) {
          const walked = await walkFiles(
            workspace,
            root,
            async (file) => {
              if (!wanted(file.place.path) && !wanted(file.name)) return true;
              if (++totals.files > bounds.files) {
                totals.complete = false;
                return false;
              }
              const lines = await textLines(workspace, file.place, file.name);
              const numbers = lines === null ? [] : await matcher.numbers(lines);
              if (lines === null || numbers.length === 0) return true;
              totals.inFiles++;
              totals.matches += numbers.length;
              for (const number of numbers.slice(0, bounds.perFile))
                found.push(`${file.name}:${number}: ${lines[number - 1]!.trim().slice(0, bounds.line)}`);
              if (numbers.length > bounds.perFile) found.push(`${file.name}: ${numbers.length - bounds.perFile} more lines`);
              return found.length < bounds.matches;
            },
            signal,
          );
          totals.leftOut += walked.leftOut;
          totals.complete &&= walked.complete;
        }
      } finally {
        matcher.dispose();
      }
      const notes = [
        found.length >= bounds.matches ? `[The search ended after ${bounds.matches} lines: make it narrower for the rest.]` : '',
        totals.complete ? '' : '[Not all of this large workspace was searched: give a folder or a pattern of files.]',
      ].filter((note) => note !== '');
      if (found.length === 0)
        return { text: [`Nothing in ${totals.files} files matches ${JSON.stringify(text)}.`, ...notes].join('\n'), status: 'ok' };
      return { text: [`${totals.matches} lines in ${totals.inFiles} files:`, ...found, ...notes].join('\n'), status: 'ok' };
    },
  };
}

async function textLines(workspace: ToolWorkspace, place: Parameters<ToolWorkspace['stat']>[0], name: string): Promise<string[] | null> {
  try {
    const unsaved = workspace.unsaved(place);
    if (unsaved !== undefined) return linesOf(unsaved);
    const stat = await workspace.stat(place);
    if (stat?.kind !== 'file' || stat.bytes > bounds.fileBytes || stat.bytes === 0) return null;
    return linesOf(decode(await workspace.read(place), name).text);
  } catch {
    // Binary, or not readable: there is nothing to find in it.
    return null;
  }
}
