import { open, readFile, rm, stat } from 'node:fs/promises';

/** After which OpenClaw takes a lock to be left over, whoever holds it. */
const abandonedAfterMs = 30 * 60 * 1000;

/**
 * OpenClaw's own lock on a session's file: a file beside it, made by whoever writes. Null: somebody else has it; nobody is waited for, as
 * OpenClaw gives up on a lock after ten seconds. Whether its holder is alive is not looked into: it may be in a container, where the
 * number of its process is another one. Rejects as the file system says.
 */
export async function lockTranscript(file: string): Promise<{ release(): Promise<void> } | null> {
  const path = `${file}.lock`;
  const content = JSON.stringify({ pid: process.pid, createdAt: new Date().toISOString() }, null, 2);
  try {
    await make(path, content);
  } catch (error) {
    if (!isThere(error)) throw error;
    const found = await stat(path).catch(() => null);
    if (found && Date.now() - found.mtimeMs <= abandonedAfterMs) return null;
    // The next attempt makes a new one, unless somebody is quicker.
    await rm(path, { force: true });
    return null;
  }
  return {
    release: async () => {
      if ((await readFile(path, 'utf8').catch(() => '')) === content) await rm(path, { force: true });
    },
  };
}

async function make(path: string, content: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

function isThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
