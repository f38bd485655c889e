import { fewestCharacters } from '../transfer/export/sealedBundle';
import { typedSecret } from './typedSecret';

export const passphraseVariable = 'THREADKEEPER_PASSPHRASE';

/** A sealed file's passphrase comes from the environment or is typed in. Rejects with words when it is too short to be one. */
export async function passphrase(): Promise<string> {
  const given = process.env[passphraseVariable] ?? (await typedSecret('Passphrase: '));
  if (given.length < fewestCharacters) throw new Error(`A passphrase has ${fewestCharacters} characters at least.`);
  return given;
}
