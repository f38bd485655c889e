import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isObject } from '../../../core/base/json';
import { parseForeign } from '../../../core/transfer/formats/foreignJson';

export interface GeminiProject {
  readonly slug: string;
  readonly hash: string;
  /** The program has not been in the folder: the file that says which one it is has to be written, too. */
  readonly isNew: boolean;
}

/**
 * What Gemini CLI calls a folder: as its list says, or the folder of sessions that names it; else a name that no other has. `tmp` is its
 * folder of sessions, which the list lies beside.
 */
export async function geminiProject(tmp: string, cwd: string): Promise<GeminiProject> {
  const hash = createHash('sha256').update(cwd).digest('hex');
  const list = parseForeign(await readFile(join(tmp, '..', 'projects.json'), 'utf8').catch(() => '{}'))?.value;
  const projects = isObject(list) && isObject(list['projects']) ? list['projects'] : {};
  const known = projects[cwd];
  const taken = new Set([...(await readdir(tmp).catch(() => [])), ...Object.values(projects).map(String)]);
  for (const slug of taken) {
    const root = await readFile(join(tmp, slug, '.project_root'), 'utf8').catch(() => '');
    if (root.trim() === cwd) return { slug, hash, isNew: false };
  }
  const name = (typeof known === 'string' && /^[\w-]+$/.test(known) ? known : slugOf(cwd)) || 'project';
  if (name === known) return { slug: name, hash, isNew: true };
  let slug = name;
  for (let n = 1; taken.has(slug); n++) slug = `${name}-${n}`;
  return { slug, hash, isNew: true };
}

function slugOf(cwd: string): string {
  return (
    basename(cwd)
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.join('-') ?? ''
  );
}
