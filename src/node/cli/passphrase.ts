import { readSync } from 'node:fs';
import { fewestCharacters } from '../transfer/export/sealedBundle';

export const passphraseVariable = 'THREADKEEPER_PASSPHRASE';

/** A sealed file's passphrase comes from the environment or is typed in. Throws with words when it is too short to be one. */
export function passphrase(): string {
  const given = process.env[passphraseVariable] ?? typed();
  if (given.length < fewestCharacters) throw new Error(`A passphrase has ${fewestCharacters} characters at least.`);
  return given;
}

/** Reads one line. A terminal shows what is typed; the variable is there for those who do not want that. */
function typed(): string {
  process.stderr.write(`Passphrase (shown as you type; ${passphraseVariable} is read instead where it is set): `);
  const read: Buffer[] = [];
  const buffer = Buffer.alloc(4_096);
  for (let bytes = 1; bytes > 0 && !read.at(-1)?.includes(10); ) {
    bytes = readSync(0, buffer);
    read.push(Buffer.from(buffer.subarray(0, bytes)));
  }
  return Buffer.concat(read).toString('utf8').split(/\r?\n/)[0] ?? '';
}
