import * as z from 'zod/mini';
import { t } from '../../l10n';
import { assertAsked, locate, readQuestion, type Located } from '../guard/located';
import { readTextFile, lineCharacters, pageText, type SeenFiles } from './textFile';
import { ToolFault, toolInput, type Tool } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';

const Input = z.object({
  path: z.string(),
  start_line: z.optional(z.int().check(z.minimum(1))),
  line_count: z.optional(z.int().check(z.minimum(1))),
});

export function createReadFileTool(workspace: ToolWorkspace, seen: SeenFiles): Tool {
  const question = (located: Located) => readQuestion(t('Read {0}', located.shown), located);
  return {
    name: 'read_file',
    description:
      'Read a text file of the workspace: its lines with their numbers. A long file comes in pages; the answer says how to read on.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the workspace, for example src/main.ts.' },
        start_line: { type: 'integer', minimum: 1, description: 'First line; default 1.' },
        line_count: { type: 'integer', minimum: 1, description: 'How many lines; default: as many as fit.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    access: 'read',
    needsApproval: async (value) => question(await locate(workspace, toolInput(Input, value).path)),
    async run(value, _signal, run) {
      const { path, start_line: start = 1, line_count: count } = toolInput(Input, value);
      const located = await locate(workspace, path);
      assertAsked(question(located), run?.approved);
      const { text, faithful, unsaved } = await readTextFile(workspace, located);
      const page = pageText(text, start, count);
      if (!page) throw new ToolFault(`${located.name} has ${pageText(text)!.total} lines; there is no line ${start}.`);
      seen.note(located.place, text);
      const notes = [
        text.includes('\r\n') ? 'CRLF line ends' : '',
        text !== '' && !/[\r\n]$/.test(text) ? 'no line break at its end' : '',
        unsaved ? 'with changes in an editor that are not saved' : '',
        faithful ? '' : 'not UTF-8: it cannot be edited here',
      ].filter((note) => note !== '');
      const head =
        page.total === 0
          ? `${located.name} is empty.`
          : `${located.name}, lines ${page.first} to ${page.last} of ${page.total}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}:`;
      const tail = [
        page.cutLines.length > 0
          ? `[Of very long lines the first ${lineCharacters} characters are shown: ${page.cutLines.slice(0, 20).join(', ')}.]`
          : '',
        page.last < page.total ? `[${page.total - page.last} more lines: read_file with "start_line": ${page.last + 1}.]` : '',
      ].filter((line) => line !== '');
      return { text: [head, page.text, ...tail].join('\n'), status: 'ok' };
    },
  };
}
