import { readFileSync } from 'node:fs';
import { fewestCharacters } from '../transfer/export/sealedBundle';

export const passphraseVariable = 'THREADKEEPER_PASSPHRASE';

/** A sealed file's passphrase comes from the environment or is typed in. Throws with words when it is too short to be one. */
export function passphrase(): string {
  const given = process.env[passphraseVariable] ?? typed();
  if (given.length < fewestCharacters) throw new Error(`A passphrase has ${fewestCharacters} characters at least.`);
  return given;
}

function typed(): string {
  process.stderr.write('Passphrase: ');
  return readFileSync(0, 'utf8').replace(/\r?\n$/, '');
}
