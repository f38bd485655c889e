import { execFile } from 'node:child_process';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtTests, projectRoot } from '../paths';
import { packagedReadme } from '../run/packagedReadme';
import { TestError } from '../testError';

const execute = promisify(execFile);
let packed: Promise<string> | undefined;

/**
 * With it the same files give the same bytes. Seconds since 1970: 1980-01-02, about the earliest that a zip file can say, in its local
 * time; the files in it are sorted as the language has it.
 */
const fixed = { SOURCE_DATE_EPOCH: '315619200', TZ: 'UTC', LC_ALL: 'C' };
/** Of every file in the package, where it would have that of the file on this disk: it differs with the umask of whoever cloned. */
const mode = 0o100644;

/** The .vsix of what is built now, packed once a process; THREADKEEPER_VSIX names one that exists already. */
export function packedExtension(): Promise<string> {
  const given = process.env['THREADKEEPER_VSIX'];
  return (packed ??= given ? Promise.resolve(given) : packExtension(join(builtTests, 'threadkeeper.vsix')));
}

/** Packs what is built now, or another extension. Returns `vsix`, which is there whole or not at all: several suites pack side by side. */
export async function packExtension(vsix: string, folder = projectRoot): Promise<string> {
  const vsce = join(projectRoot, 'node_modules', '@vscode', 'vsce', 'vsce');
  const env = { ...process.env, ...fixed };
  const made = `${vsix}.${process.pid}`;
  const args = [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '--out', made];
  const readme = `dist/README.${process.pid}.md`;
  if (folder === projectRoot) {
    await writeFile(join(folder, readme), packagedReadme(await readFile(join(folder, 'README.md'), 'utf8')));
    args.push('--readme-path', readme);
  } else args.push('--skip-license');
  await execute(process.execPath, args, { cwd: folder, env, maxBuffer: 10_000_000 }).catch((error: Error) => {
    throw new TestError(`the extension cannot be packed. ${error.message}`);
  });
  await rm(join(folder, readme), { force: true });
  await writeFile(made, withMode(await readFile(made)));
  await rename(made, vsix);
  return vsix;
}

/** Changes the zip file's directory: its entries have the mode in the upper half of their external attributes. */
function withMode(zip: Buffer): Buffer {
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const count = zip.readUInt16LE(end + 10);
  for (let entry = 0, at = zip.readUInt32LE(end + 16); entry < count; entry++) {
    if (zip.toString('latin1', at, at + 4) !== 'PK\x01\x02') throw new TestError('the package has no directory that can be read.');
    zip.writeUInt32LE((mode << 16) >>> 0, at + 38);
    at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return zip;
}
