/** In a session's metadata: false when the workspace's instruction files do not count in it. */
export const instructionFilesKey = 'instructionFiles';

export function heedsFiles(metadata: Readonly<Record<string, unknown>>): boolean {
  return metadata[instructionFilesKey] !== false;
}
