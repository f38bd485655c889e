import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { t } from '../../core/l10n';
import { engineAddress, isDatabase } from '../../node/sync/openEngine';

/** Undefined: the address of a database can be used, or none has been typed yet. */
export function addressProblem(text: string): string | undefined {
  if (text === '') return undefined;
  if (!isDatabase(text) || !hasHost(text))
    return t('An address begins with postgres:// and has a host: postgres://user@host:5432/database');
  return hasPassword(text) ? t('Leave the password out of the address: you are asked for it next.') : undefined;
}

/** A socket on this machine is named in the query. */
function hasHost(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname, searchParams } = new URL(address);
  return hostname !== '' || (searchParams.get('host') ?? '') !== '';
}

/** Addresses are kept where a password must not stand. */
export function hasPassword(address: string): boolean {
  return isDatabase(address) && URL.canParse(address) && engineAddress(address) === null;
}

/** The address of a database, or a folder that is there. */
export async function isUsable(address: string): Promise<boolean> {
  if (isDatabase(address)) return addressProblem(address) === undefined;
  return (
    isAbsolute(address) &&
    (await stat(address).then(
      (there) => there.isDirectory(),
      () => false,
    ))
  );
}
