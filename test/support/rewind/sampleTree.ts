import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileRestore } from '../../../src/node/rewind/restoreFiles';
import { contentHash } from '../../../src/node/rewind/packedContent';
import type { FileVersion } from '../../../src/core/rewind/fileChanges';
import { seededRandom } from '../chat/endurance';

/** Path to what stands there: `file text`, `executable text` or `link target`. */
export type Tree = Readonly<Record<string, string>>;

const names = ['a.txt', 'b.sh', 'src/c.ts', 'src/deep/d.ts', 'src/deep/er/e.ts', 'lib/f.js', 'lib/g.js', 'h', 'h/i.txt', 'j/k', 'l'];

/** Two trees by chance, and what leads from one to the other: changed, created, deleted, links, files in the place of folders. */
export function sampleRestore(
  root: string,
  seed: number,
): { readonly before: Tree; readonly after: Tree; readonly restores: FileRestore[] } {
  const random = seededRandom(seed + 1);
  const tree = (): Tree => {
    const found: Record<string, string> = {};
    for (const name of names) {
      if (random() < 0.4 || Object.keys(found).some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))) continue;
      const kind = random() < 0.15 ? 'link' : random() < 0.3 ? 'executable' : 'file';
      found[name] = `${kind} ${kind === 'link' ? 'a.txt' : `content ${Math.floor(random() * 3)}\n`.repeat(1 + Math.floor(random() * 400))}`;
    }
    return found;
  };
  const [before, after] = [tree(), tree()];
  const restores = names
    .filter((name) => before[name] !== after[name])
    .map((path): FileRestore => {
      const [from, to] = [versionOf(before[path]), versionOf(after[path])];
      return { root, path, from: from && { hash: contentHash(from.content), bytes: from.content.length, kind: from.kind }, to };
    });
  return { before, after, restores };
}

export function writeTree(root: string, tree: Tree): void {
  mkdirSync(root, { recursive: true });
  for (const [path, said] of Object.entries(tree)) {
    const { kind, content } = versionOf(said)!;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (kind === 'link') symlinkSync(content.toString(), join(root, path));
    else writeFileSync(join(root, path), content, { mode: kind === 'executable' ? 0o755 : 0o644 });
  }
}

/** Every file below a folder, whatever it is called. */
export function readTree(root: string): Tree {
  const found: Record<string, string> = {};
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const file = join(root, path);
    const stat = lstatSync(file);
    if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(file)}`;
    else if (stat.isFile()) found[path] = `${(stat.mode & 0o100) === 0 ? 'file' : 'executable'} ${readFileSync(file, 'utf8')}`;
  }
  return found;
}

function versionOf(said: string | undefined): { readonly kind: FileVersion['kind']; readonly content: Buffer } | null {
  if (said === undefined) return null;
  const kind = said.slice(0, said.indexOf(' ')) as FileVersion['kind'];
  return { kind, content: Buffer.from(said.slice(kind.length + 1)) };
}
