import { leafRegister, type Change, type EntriesAppended, type RegistersSet } from '../../../core/sync/change';
import type { PendingChanges, PendingReceipt } from '../../../core/sync/syncReplica';
import type { AttachmentPlace } from '../../../core/sync/attachmentPlace';
import { contentSize, isDamaged, type StoredEntry } from '../../../core/session/entry';
import type { Session } from '../../../core/session/session';
import type { Connection, Row } from '../database/connection';
import type { EntryRows } from '../rows/entryRows';
import type { SessionRows } from '../rows/sessionRows';
import type { PinRows } from '../rows/smallTables';
import { decodeUsage } from '../rows/usageRows';
import type { AttachmentRows } from './attachmentRows';
import type { NoteRows } from './noteRows';
import type { StandIns } from './standIns';
import { columnRegisters, metadataPrefix, pinPrefix } from './outbox';

export interface PendingNeeds {
  readonly connection: Connection;
  readonly sessions: SessionRows;
  readonly entries: EntryRows;
  readonly pins: PinRows;
  readonly notes: NoteRows;
  readonly attachments: AttachmentRows;
  readonly standIns: StandIns;
}

/** What is written by a model that cites entries (`Renumbering`). */
const citing: ReadonlySet<string> = new Set(['compaction', 'prepared_summary', 'checkpoint', 'branch_summary']);

/** Characters of one record. A turn is one record; a history that is sent for the first time is cut into such pieces. */
const mostCharacters = 256 * 1024;

/**
 * What the oldest rows of the outbox tell, with the values of now: a register that was set twice is told once. Throws a `StoreError` where
 * a long text cannot be read now.
 */
export function pendingChanges(open: PendingNeeds, most: number): PendingChanges {
  const rows = open.connection.all('SELECT n, kind, session, target, tick FROM sync_outbox ORDER BY n LIMIT ?', [most]);
  const begun: Change[] = [];
  const purges: Change[] = [];
  const notes: Change[] = [];
  const appended = new Appended(open);
  const registers = new Registers(open);
  let through: number | null = null;
  for (const row of rows) {
    through = Number(row['n']);
    const session = String(row['session']);
    const found = row['kind'] === 'purge' || row['kind'] === 'note' ? undefined : open.sessions.find(session);
    if (row['kind'] === 'note') {
      const note = open.notes.find(String(row['target']));
      if (note) notes.push(note);
      appended.size += note?.text?.length ?? 0;
    } else if (row['kind'] === 'purge') purges.push({ kind: 'purge', session });
    else if (!found) continue;
    else if (row['kind'] === 'session') {
      begun.push(begunOf(found));
      registers.addAll(found, Number(row['tick']));
    } else if (row['kind'] === 'register') registers.add(found, String(row['target']), Number(row['tick']));
    else appended.add(session, row);
    if (appended.size > mostCharacters) break;
  }
  const last = open.connection.get('SELECT max(n) AS n FROM sync_outbox');
  const set = registers.changes();
  const receipt = through === null ? null : { through, stamps: set.flatMap(stampsOf), attachments: appended.attached };
  const { changes: entries, rest } = withLeaves(appended.changes(), set);
  return {
    changes: [...inFront(begun, rest, entries), ...notes, ...purges],
    receipt,
    isLast: receipt === null || Number(last?.['n']) === receipt.through,
  };
}

/** What is set in a session stands right behind the session, unless entries that it may name come in between. */
function inFront(begun: readonly Change[], set: readonly RegistersSet[], entries: readonly Change[]): Change[] {
  const appended = new Set(entries.map(({ session }) => session));
  const early = new Map(set.filter(({ session }) => !appended.has(session)).map((one) => [one.session, one]));
  const opened = begun.flatMap((one): Change[] => [one, early.get(one.session) ?? []].flat());
  const told = new Set(opened);
  return [...opened, ...entries, ...set.filter((one) => !told.has(one))];
}

/** Who says something stands at its end: that goes with the entries where nothing else was set. */
function withLeaves(
  changes: readonly Change[],
  set: readonly RegistersSet[],
): { readonly changes: Change[]; readonly rest: RegistersSet[] } {
  const rest = [...set];
  return {
    changes: changes.map((change) => {
      if (change.kind !== 'entries') return change;
      const at = rest.findIndex(
        ({ session, values }) => session === change.session && values.length === 1 && values[0]!.name === leafRegister,
      );
      const leaf = rest[at]?.values[0];
      if (!leaf || typeof leaf.value !== 'string') return change;
      rest.splice(at, 1);
      return { ...change, leaf: { value: leaf.value, tick: leaf.tick } };
    }),
    rest,
  };
}

function stampsOf({ session, values }: RegistersSet): PendingReceipt['stamps'] {
  return values.map(({ name, tick }) => ({ session, name, tick }));
}

function begunOf({ uuid, id, key, cwd, createdAt, parentSession, forkEntry }: Session): Change {
  return { kind: 'session', session: uuid, id, key, cwd, createdAt, parentSession, forkEntry };
}

/** Entries and usage by session. */
class Appended {
  size = 0;
  private readonly bySession = new Map<
    string,
    { readonly entries: EntriesAppended['entries']; readonly usage: EntriesAppended['usage'] }
  >();
  readonly attached: AttachmentPlace[] = [];

  constructor(private readonly open: PendingNeeds) {}

  add(session: string, row: Row): void {
    const of = this.bySession.get(session) ?? { entries: [], usage: [] };
    this.bySession.set(session, of);
    if (row['kind'] === 'usage') {
      const usage = this.open.connection.get('SELECT * FROM usage WHERE rowid = ?', [row['target'] ?? null]);
      if (usage) of.usage.push(decodeUsage(usage));
      return;
    }
    const entry = this.open.entries.findToTell(Number(row['target']));
    if (entry?.session !== session) return;
    const { session: _, ...carried } = entry;
    const cites = this.citesOf(entry);
    // What is lost here comes from whoever has it, whichever is read first.
    const standsIn = this.open.standIns.has(entry.uuid) || isDamaged(entry);
    of.entries.push({ ...carried, ...(cites.length === 0 ? {} : { cites }), ...(standsIn ? { standsIn } : {}) });
    this.size += contentSize(entry.content);
    this.attached.push(...this.open.attachments.placesOf(session, entry));
  }

  changes(): Change[] {
    return [...this.bySession].flatMap(([session, { entries, usage }]) => {
      // Apart, so that a program which cannot read these yet reads the rest (`versionOf`).
      const [said, standIns] = [entries.filter(({ standsIn }) => !standsIn), entries.filter(({ standsIn }) => standsIn)];
      const parts: EntriesAppended[] = [
        { kind: 'entries', session, entries: said, usage },
        { kind: 'entries', session, entries: standIns, usage: [] },
      ];
      return parts.filter((part) => part.entries.length + part.usage.length > 0);
    });
  }

  /** Numbers are local; those of its own branch, and of the one that it sums up, are told with the entries that they stand for. */
  private citesOf({ parent, content }: StoredEntry): [number, string][] {
    if (!citing.has(content.type)) return [];
    const ends = [parent, content.type === 'branch_summary' ? content.branchLeaf : null].filter((end) => end !== null);
    const numbers = [...new Set([...JSON.stringify(content).matchAll(/#(\d{1,15})\b/g)].map(([, number]) => Number(number)))];
    if (numbers.length === 0) return [];
    return this.open.connection
      .all(
        `WITH RECURSIVE branch(uuid) AS (
           SELECT value FROM json_each(?) UNION SELECT e.parent FROM branch JOIN entries e ON e.uuid = branch.uuid WHERE e.parent IS NOT NULL
         )
         SELECT e.seq, e.uuid FROM branch CROSS JOIN entries e ON e.uuid = branch.uuid WHERE e.seq IN (SELECT value FROM json_each(?))
         ORDER BY e.seq`,
        [JSON.stringify(ends), JSON.stringify(numbers)],
      )
      .map((row) => [Number(row['seq']), String(row['uuid'])]);
  }
}

/** Registers of a session that have a value, but for what the record of the session itself says and those that have rows of their own. */
export function setIn(session: Session): string[] {
  const columns = Object.keys(columnRegisters).filter((name) => {
    const value = session[name as keyof typeof columnRegisters] ?? null;
    return value !== null && value !== '' && name !== 'key';
  });
  return [...columns, ...Object.keys(session.metadata).map((key) => metadataPrefix + key)];
}

class Registers {
  private readonly bySession = new Map<string, Map<string, RegistersSet['values'][number]>>();

  constructor(private readonly open: PendingNeeds) {}

  add(session: Session, name: string, tick: number): void {
    const values = this.bySession.get(session.uuid) ?? new Map<string, RegistersSet['values'][number]>();
    this.bySession.set(session.uuid, values.set(name, { name, value: this.valueOf(session, name), tick }));
  }

  /** Whatever was set here in a session that is told for the first time; what came from another device has a record and a time. */
  addAll(session: Session, tick: number): void {
    const merged = this.open.connection.all('SELECT name FROM sync_stamps WHERE session = ?', [session.uuid]).map(({ name }) => name);
    for (const name of setIn(session)) if (!merged.includes(name)) this.add(session, name, tick);
  }

  changes(): RegistersSet[] {
    return [...this.bySession].map(([session, values]) => ({ kind: 'registers', session, values: [...values.values()] }));
  }

  private valueOf(session: Session, name: string): unknown {
    if (name === leafRegister) return session.leaf;
    if (name.startsWith(metadataPrefix)) return session.metadata[name.slice(metadataPrefix.length)] ?? null;
    if (name.startsWith(pinPrefix)) {
      const pin = this.open.pins.list(session.uuid).find(({ kind, target }) => name === `${pinPrefix}${kind}.${target}`);
      return pin ? { contentHash: pin.contentHash, at: pin.at } : null;
    }
    return session[name as keyof typeof columnRegisters] ?? null;
  }
}
