import { english } from '../../../core/l10n';
import type { VerifyProblem } from '../../../core/maintenance/reports';
import type { Connection, SqlValue } from '../database/connection';
import { unpackText } from '../database/text';

/** A damaged file has a problem in every row; a report is read by a person. */
const maxProblems = 100;

export class ProblemList {
  private readonly kept: VerifyProblem[] = [];
  private dropped = 0;

  add(kind: VerifyProblem['kind'], where: string, meaning: string, repairHelps = true): void {
    // One damaged page is in the way of several checks.
    if (this.kept.some((problem) => problem.where === where && problem.meaning === meaning)) return;
    if (this.kept.length < maxProblems) this.kept.push({ kind, where, meaning, repairHelps });
    else this.dropped++;
  }

  get problems(): readonly VerifyProblem[] {
    return this.kept;
  }

  get more(): number {
    return this.dropped;
  }
}

/** `session 20261120_003 “Fix login”`, or as much of it as can be read. */
export function sessionName(connection: Connection, uuid: SqlValue | undefined): string {
  try {
    const row = connection.get('SELECT id, title FROM sessions WHERE uuid = ?', [uuid ?? null]);
    const title = row && unpackText(row['title']);
    if (row) return title === '' ? english('session {0}', String(row['id'])) : english('session {0} “{1}”', String(row['id']), title ?? '');
  } catch {
    // Named by what is at hand instead.
  }
  return english('session {0}', String(uuid));
}

/** `entry #12 of session 20261120_003 “Fix login”`. */
export function entryName(connection: Connection, seq: SqlValue | undefined): string {
  try {
    const row = connection.get('SELECT session FROM entries WHERE seq = ?', [seq ?? null]);
    if (row) return english('entry #{0} of {1}', String(seq), sessionName(connection, row['session']));
  } catch {
    // The reason is the one above.
  }
  return english('entry #{0}', String(seq));
}
