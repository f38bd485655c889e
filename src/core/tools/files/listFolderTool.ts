import * as z from 'zod/mini';
import { t } from '../../l10n';
import { assertAsked, locate, readQuestion, type Located } from '../guard/located';
import { ToolFault, type Tool } from '../tool';
import { toolInput } from '../toolInput';
import type { ToolWorkspace } from '../toolWorkspace';

const Input = z.object({ path: z.optional(z.string()) });
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
  const { path = '' } = toolInput(Input, value);
  const isTop = path.trim() === '' || path.trim() === '.';
  if (isTop && workspace.folders.length > 1) return null;
  return locate(workspace, path);
}
