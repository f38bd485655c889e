import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../paths';

const original = join(projectRoot, 'test', 'fixtures', 'sampleWorkspace');

/** A small project in a new temporary folder, for a test to open and change. */
export async function temporaryWorkspace(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-workspace-'));
  await cp(original, folder, { recursive: true });
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

/** The same project in `folder`; files that are there already stay as their user left them. */
export async function keepWorkspace(folder: string): Promise<void> {
  await cp(original, folder, { recursive: true, force: false });
}
