import type { MemoryNotes } from '../ports';
import { wholeCharacters } from '../context/projection/excerpt';
import { indented } from '../frames/frames';

/** About 1,000 tokens: the index and the head of the notes; everything else through the tool. */
const maxChars = 4_000;

/** What stands in the context of a new session and after each compaction; null when there are no notes. */
export async function memoryHead(notes: MemoryNotes): Promise<string | null> {
  const files = (await notes.list()).sort((a, b) => b.modifiedAt - a.modifiedAt);
  if (files.length === 0) return null;
  const index = ['Your notes (memory tool):', ...files.slice(0, 40).map(({ path, bytes }) => `- ${path} (${bytes} bytes)`)];
  if (files.length > 40) index.push(`- and ${files.length - 40} more`);
  let text = index.join('\n');
  for (const { path } of files) {
    const room = maxChars - text.length - path.length - 20;
    if (room < 200) break;
    // A picture that somebody has put there, or a text of megabytes: listed, and no reason to answer nothing.
    // No line of a note begins where the name of one does: none passes for another.
    const body = indented((await notes.read(path).catch(() => undefined))?.trim() ?? '');
    if (body) text += `\n\n${path}:\n  ${body.length <= room ? body : `${wholeCharacters(body, 0, room)} […]`}`;
  }
  return text;
}
