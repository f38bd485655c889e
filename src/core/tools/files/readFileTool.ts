import * as z from 'zod/mini';
import { t } from '../../l10n';
import { assertAsked, locate, readQuestion, type Located } from '../guard/located';
import { readTextFile, lineCharacters, pageText, type SeenFiles } from './textFile';
import { imageSize, longSide } from '../../context/projection/attachments';
import { mostImageBytes, mostImageSide } from '../../session/userMessage';
import { ToolFault, toolInput, type Tool, type ToolOutcome } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';

const Input = z.object({
  path: z.string(),
  start_line: z.optional(z.int().check(z.minimum(1))),
  line_count: z.optional(z.int().check(z.minimum(1))),
});

const imageName = /\.(?:png|jpe?g|webp|gif)$/i;

/** Null for what is no image, whatever it is called: then it is read as text, which says what is wrong with it. */
async function readImage(workspace: ToolWorkspace, { place, name }: Located): Promise<ToolOutcome | null> {
  if (!imageName.test(name) || workspace.unsaved(place) !== undefined) return null;
  const stat = await workspace.stat(place);
  if (stat?.kind !== 'file') return null;
  if (stat.bytes > mostImageBytes)
    throw new ToolFault(
      `${name} has ${stat.bytes.toLocaleString('en')} bytes; images above ${mostImageBytes.toLocaleString('en')} bytes are not shown.`,
    );
  const bytes = await workspace.read(place);
  const size = imageSize(bytes);
  if (!size) return null;
  const { mime, width, height } = size;
  if (longSide(size) > mostImageSide)
    throw new ToolFault(
      `${name} is an image of ${width} × ${height} pixels; those above ${mostImageSide} pixels a side are not shown. A smaller copy can be.`,
    );
  return {
    text: `${name} is an image (${mime.slice('image/'.length)}, ${width} × ${height} pixels). It is part of this result.`,
    images: [{ name, bytes }],
    status: 'ok',
  };
}

export function createReadFileTool(workspace: ToolWorkspace, seen: SeenFiles): Tool {
  const question = (located: Located) => readQuestion(t('Read {0}', located.shown), located);
  return {
    name: 'read_file',
    description:
      'Read a file of the workspace: the lines of a text with their numbers, or an image (png, jpeg, webp, gif). A long text comes in pages; the answer says how to read on.',
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
      const image = await readImage(workspace, located);
      if (image) return image;
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
