import { beginningOfFile } from '../../core/context/projection/excerpt';
import type { PinnedFiles } from '../../core/ports';

/** Where projects say what assistants are to heed. */
const instructionFiles = ['AGENTS.md', '.github/copilot-instructions.md'] as const;
/** Characters of one file, in every prompt of the session; the setting for the user's own instructions takes as many. */
const mostCharacters = 20_000;

/** What these files of a workspace say, for the standing instructions; empty when there are none, or they cannot be read. */
export async function workspaceInstructions(files: PinnedFiles): Promise<string> {
  const parts = await Promise.all(
    instructionFiles.map(async (path) => {
      const text = (await files.read(path))?.text.trim() ?? '';
      if (text === '') return [];
      return [`From the workspace's ${path}:\n${beginningOfFile(text, mostCharacters)}`];
    }),
  );
  return parts.flat().join('\n\n');
}
