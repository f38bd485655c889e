import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { livenessOf, ProcessIdentity, thisProcess } from './processIdentity';
import { storeFiles } from '../database/storeFiles';

/** A process that cannot be looked up by pid has so long: longer than a repair or a restore of 300 MB takes. */
const unknownMs = 60_000;

/**
 * Keeps the place of an owner that lets go of its store only to repair or to replace it: without it the next window would have
 * taken over by then. Lasts until it is given back, or its process ends. Throws the file system's error.
 */
export function reserveLease(folder: string): { release(): void } {
  const file = reservationOf(storeFiles(folder).lease);
  writeFileSync(file, JSON.stringify(thisProcess()), { mode: 0o600 });
  return { release: () => rmSync(file, { force: true }) };
}

/** Whether another process, one that lives, is coming back for the lease. */
export function isReservedByAnother(lease: string): boolean {
  const file = reservationOf(lease);
  try {
    const holder = ProcessIdentity.parse(JSON.parse(readFileSync(file, 'utf8')));
    const me = thisProcess();
    if (
      holder.pid === me.pid &&
      holder.startTime === me.startTime &&
      holder.bootId === me.bootId &&
      holder.pidNamespace === me.pidNamespace &&
      holder.host === me.host
    )
      return false;
    const { mtimeMs } = statSync(file);
    const liveness = livenessOf(holder, mtimeMs);
    return liveness === 'alive' || (liveness !== 'dead' && Date.now() - mtimeMs < unknownMs);
  } catch {
    // None, or half of one.
    return false;
  }
}

function reservationOf(lease: string): string {
  return `${lease}.reserved`;
}
