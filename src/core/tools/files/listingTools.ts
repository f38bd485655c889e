import * as z from 'zod/mini';
import { t } from '../../l10n';
import { globMatcher } from '../guard/glob';
import { assertAsked, locate, readQuestion, type Located } from '../guard/located';
import { toolInput, ToolFault, type Tool } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';
import { searchRoots, walkFiles } from '../guard/walk';

const FindInput = z.object({ pattern: z.string().check(z.minLength(1), z.maxLength(500)), path: z.optional(z.string()) });
const mostFound = 200;

export function createFindFilesTool(workspace: ToolWorkspace): Tool {
  const question = (pattern: string, located: Located | null) =>
    readQuestion(located ? t('Find files called {0} in {1}', pattern, located.shown) : t('Find files called {0}', pattern), located);
  return {
    name: 'find_files',
    description: 'Find files of the workspace by name. Files that Git ignores are left out.',
    inputSchema: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          description:
            'For example *.ts (at any depth), src/**/*.test.ts, package.json. Without a slash it is matched against names, with one against paths.',
        },
        path: { type: 'string', description: 'Only below this folder.' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    access: 'read',
    timeoutMs: 60_000,
    async needsApproval(value) {
      const { pattern, path } = toolInput(FindInput, value);
      return question(pattern, path === undefined ? null : await locate(workspace, path));
    },
    async run(value, signal, run) {
      const { pattern, path } = toolInput(FindInput, value);
      const located = path === undefined ? null : await locate(workspace, path);
      assertAsked(question(pattern, located), run?.approved);
      const within = located?.place ?? null;
      const matches = globMatcher(pattern.includes('/') ? pattern : `**/${pattern}`, { ignoreCase: true });
      const found: string[] = [];
      let complete = true;
      for (const root of searchRoots(workspace, within)) {
        const walked = await walkFiles(
          workspace,
          root,
          async (file) => {
            if (matches(file.place.path) || matches(file.name)) found.push(file.name);
            return found.length <= mostFound;
          },
          signal,
        );
        complete &&= walked.complete;
      }
      const notes = [
        found.length > mostFound ? `[More than ${mostFound}: make the pattern narrower.]` : '',
        complete ? '' : '[Not all of this large workspace was looked at: give a folder.]',
      ].filter((note) => note !== '');
      if (found.length === 0) return { text: [`No file matches ${pattern}.`, ...notes].join('\n'), status: 'ok' };
      return { text: [...found.slice(0, mostFound), ...notes].join('\n'), status: 'ok' };
    },
  };
}

const ListInput = z.object({ path: z.optional(z.string()) });
const mostShown = 500;

export function createListFolderTool(workspace: ToolWorkspace): Tool {
  const question = (located: Located | null) =>
    readQuestion(located ? t('List {0}', located.shown) : t('List the folders of the workspace'), located);
  return {
    name: 'list_folder',
    description: 'List what is in a folder of the workspace, not what is below it. Folders end in /.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Relative to the workspace; default: the workspace itself.' } },
      additionalProperties: false,
    },
    access: 'read',
    needsApproval: async (value) => question(await folderOf(workspace, value)),
    async run(value, _signal, run) {
      const located = await folderOf(workspace, value);
      assertAsked(question(located), run?.approved);
      if (!located)
        return { text: ['The folders of the workspace:', ...workspace.folders.map(({ name }) => `${name}/`)].join('\n'), status: 'ok' };
      const stat = await workspace.stat(located.place);
      if (!stat) throw new ToolFault(`There is no folder ${located.name}.`);
      if (stat.kind !== 'folder') throw new ToolFault(`${located.name} is a file. read_file reads it.`);
      const marks = { folder: '/', file: '', link: ' (link)', other: ' (no file)' } as const;
      const items = [...(await workspace.list(located.place))].sort(
        (a, b) => Number(b.kind === 'folder') - Number(a.kind === 'folder') || (a.name < b.name ? -1 : 1),
      );
      const shown = items.slice(0, mostShown).map(({ name, kind }) => name + marks[kind]);
      const more = items.length > mostShown ? [`[${items.length - mostShown} more; find_files looks for names.]`] : [];
      return { text: items.length === 0 ? `${located.name} is empty.` : [`${located.name}:`, ...shown, ...more].join('\n'), status: 'ok' };
    },
  };
}

/** Null: all folders of a workspace that has several. */
async function folderOf(workspace: ToolWorkspace, value: unknown): Promise<Located | null> {
  const { path = '' } = toolInput(ListInput, value);
  const isTop = path.trim() === '' || path.trim() === '.';
  if (isTop && workspace.folders.length > 1) return null;
  return locate(workspace, path);
}
