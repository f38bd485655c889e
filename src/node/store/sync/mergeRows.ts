import * as z from 'zod/mini';
import { StoreError } from '../../../core/errors';
import {
  isLater,
  leafRegister,
  type AttachmentKept,
  type CarriedEntry,
  type Change,
  type EntriesAppended,
  type NoteWritten,
  type SessionBegun,
  type Stamp,
} from '../../../core/sync/change';
import { needsFree, type MergeTarget } from '../../../core/sync/merge';
import type { NewEntry } from '../../../core/session/entry';
import type { SessionPatch } from '../../../core/session/session';
import type { Pin } from '../../../core/session/storage';
import { Renumbering } from '../../../core/transfer/renumbering';
import { importedId, ownOperation } from '../../../core/transfer/sourceRecord';
import { sha256 } from '../rows/blobFiles';
import type { Purge } from '../rows/purge';
import type { TreeRows } from '../rows/treeRows';
import type { UsageRows } from '../rows/usageRows';
import type { SearchIndex } from '../search/searchIndex';
import type { columnRegisters } from './outbox';
import { noteElsewhere, takeElsewhere } from './elsewhere';
import { metadataPrefix, pinPrefix } from './outbox';
import { setIn, type PendingNeeds } from './pendingChanges';
import type { Before } from './standIns';

export interface MergeNeeds extends PendingNeeds {
  readonly tree: TreeRows;
  readonly usage: UsageRows;
  readonly purges: Purge;
  readonly index: SearchIndex;
}

const registerTypes: Readonly<Record<Exclude<keyof typeof columnRegisters, 'key'>, z.ZodMiniType>> = {
  title: z.string(),
  model: z.nullable(z.string()),
  thinkingLevel: z.nullable(z.string()),
  policy: z.unknown(),
  costLimit: z.nullable(z.number()),
  pinnedAt: z.nullable(z.number()),
  archivedAt: z.nullable(z.number()),
  deletedAt: z.nullable(z.number()),
};
const PinValue = z.nullable(z.object({ contentHash: z.nullable(z.string()), at: z.number() }));

/** The rows of one store while changes of other devices are merged, in a transaction of the caller's with `merging` set. */
export class MergeRows implements MergeTarget {
  /** Registers that were set here and stand in no record yet. */
  private readonly unsent = new Map<string, number>();
  /** Sessions that stand in no record yet. */
  private readonly begun = new Map<string, number>();
  private highest = 0;
  private knownBefore: Before | null = null;
  private readonly notesKept = new Set<string>();

  constructor(
    private readonly open: MergeNeeds,
    readonly device: string,
    private readonly held: ReadonlySet<string>,
  ) {
    for (const row of open.connection.iterate("SELECT session, target, tick FROM sync_outbox WHERE kind = 'register'"))
      this.unsent.set(JSON.stringify([row['session'], row['target']]), Number(row['tick']));
    for (const row of open.connection.iterate("SELECT session, tick FROM sync_outbox WHERE kind = 'session'"))
      this.begun.set(String(row['session']), Number(row['tick']));
  }

  /** The clock that the caller is to set when all is merged. */
  get clock(): number {
    return this.highest;
  }

  /** Asked for before anything is inserted. */
  private get before(): Before {
    return (this.knownBefore ??= this.open.standIns.before());
  }

  observe(tick: number): void {
    this.highest = Math.max(this.highest, tick);
  }

  isPurged(session: string): boolean {
    return this.open.connection.get('SELECT 1 FROM sync_purged WHERE session = ?', [session]) !== undefined;
  }

  hasSession(session: string): boolean {
    return this.open.sessions.find(session) !== undefined;
  }

  beginSession({ session, id, key, cwd, createdAt, parentSession, forkEntry }: SessionBegun): void {
    const { session: begun } = this.open.sessions.restore({
      uuid: session,
      id,
      key,
      title: '',
      cwd,
      createdAt,
      updatedAt: createdAt,
      lastOpenedAt: createdAt,
      pinnedAt: null,
      archivedAt: null,
      deletedAt: null,
      parentSession,
      forkEntry,
      model: null,
      thinkingLevel: null,
      policy: null,
      metadata: {},
      costLimit: null,
    });
    for (const [here, there] of [
      [begun.id, id],
      [begun.key, key],
    ] as const)
      if (here !== there) this.open.sessions.addAlias(session, there);
  }

  createdAt(session: string): number {
    return this.open.sessions.find(session)?.createdAt ?? Infinity;
  }

  ownerOf(entry: string): string | undefined {
    return this.open.tree.sessionOf(entry);
  }

  insert(session: string, entry: CarriedEntry): void {
    const { attachments, standIns } = this.open;
    const local = this.localOf(session, entry);
    try {
      standIns.insert(local, entry.seq, this.before);
      attachments.want(session, local);
    } catch (error) {
      if (!StoreError.is(error) || error.reason !== 'invalid') throw error;
      // No device of ours writes such a thing; the rest must not stop at it.
      return this.wait(`refused ${entry.uuid}`, { kind: 'entries', session, entries: [entry], usage: [] }, this.device);
    }
    if (entry.standsIn) standIns.add(entry.uuid);
    this.count(session, entry.createdAt, entry.tokenEstimate ?? 0, local.content.type === 'message' ? 1 : 0);
  }

  isStandIn(entry: string): boolean {
    return this.open.standIns.has(entry);
  }

  replace(session: string, entry: CarriedEntry): readonly { readonly change: Change; readonly device: string }[] {
    const local = this.localOf(session, entry);
    const before = this.placeOf(entry.uuid);
    this.open.standIns.replace(local, entry.seq, this.before);
    this.count(before.session, 0, -before.tokens, -before.messages);
    this.count(session, entry.createdAt, entry.tokenEstimate ?? 0, local.content.type === 'message' ? 1 : 0);
    this.open.attachments.want(session, local);
    return takeElsewhere(this.open.connection, session);
  }

  /** As it is told here. */
  private localOf(session: string, { seq: _, cites, standsIn: __, ...entry }: CarriedEntry): NewEntry {
    const isElsewhere = (sql: string, value: string) =>
      this.open.connection.get(`${sql} AND e.uuid <> ?`, [value, entry.uuid]) !== undefined;
    const told = this.withLocalNumbers(entry.content, cites ?? []);
    const recorded = 'SELECT 1 FROM compactions c JOIN entries e ON e.seq = c.entry WHERE c.operation_id = ?';
    const isRecorded = told.type === 'compaction' && isElsewhere(recorded, told.operationId);
    const content = isRecorded ? { ...told, operationId: ownOperation(told.operationId, entry.uuid) } : told;
    const source = entry.sourceId ?? null;
    const isKnown = source !== null && isElsewhere('SELECT 1 FROM entries e WHERE e.source_id = ?', source);
    // A source names one entry of a store; and what was imported elsewhere stays so, or it would speak in the program's name here.
    return { ...entry, content, session, sourceId: isKnown ? importedId(entry.uuid) : source };
  }

  /** Where the entry stands, and what it adds to the sums of its session. */
  private placeOf(entry: string): { readonly seq: number; readonly session: string; readonly tokens: number; readonly messages: number } {
    const row = this.open.connection.get('SELECT seq, session, token_estimate, entry_type FROM entries WHERE uuid = ?', [entry]);
    return {
      seq: Number(row?.['seq']),
      session: String(row?.['session']),
      tokens: Number(row?.['token_estimate'] ?? 0),
      messages: row?.['entry_type'] === 'message' ? 1 : 0,
    };
  }

  private count(session: string, at: number, tokens: number, messages: number): void {
    this.open.connection.run(
      'UPDATE sessions SET updated_at = max(updated_at, ?), total_tokens = total_tokens + ?, message_count = message_count + ? WHERE uuid = ?',
      [at, tokens, messages, session],
    );
  }

  /** The entries that it cites have other numbers here. */
  private withLocalNumbers(content: CarriedEntry['content'], cites: NonNullable<CarriedEntry['cites']>): CarriedEntry['content'] {
    const renumbering = new Renumbering();
    for (const [number, uuid] of cites) {
      const seq = this.open.connection.get('SELECT seq FROM entries WHERE uuid = ?', [uuid])?.['seq'];
      if (seq !== undefined) renumbering.note(number, Number(seq));
    }
    return renumbering.apply(content);
  }

  addUsage(session: string, usage: EntriesAppended['usage']): void {
    for (const record of usage) this.open.usage.add(session, record);
  }

  handOver(entry: string, session: string): void {
    const { connection, index } = this.open;
    const before = this.placeOf(entry);
    // The index has the passages of the entry under the session that it leaves.
    if (before.seq <= index.indexedThrough) index.reset();
    this.count(before.session, 0, -before.tokens, -before.messages);
    this.count(session, 0, before.tokens, before.messages);
    connection.run("INSERT INTO meta(key, value) VALUES ('purging', 1)");
    connection.run('UPDATE entries SET session = ? WHERE uuid = ?', [session, entry]);
    connection.run("DELETE FROM meta WHERE key = 'purging'");
    this.open.attachments.wantAgain(session, entry);
  }

  stampOf(session: string, register: string): Stamp | undefined {
    const row = this.open.connection.get('SELECT tick, device FROM sync_stamps WHERE session = ? AND name = ?', [session, register]);
    const stored = row && { tick: Number(row['tick']), device: String(row['device']) };
    const tick = this.unsent.get(JSON.stringify([session, register])) ?? (stored ? undefined : this.toldWith(session, register));
    const unsent = tick === undefined ? undefined : { tick, device: this.device };
    if (!stored || !unsent) return stored ?? unsent;
    // What was set here waits to be sent although a later one has been merged since.
    return isLater(stored, unsent) ? stored : unsent;
  }

  /** What is set in a session is told with it, unless it came from another device (pendingChanges.ts). */
  private toldWith(session: string, register: string): number | undefined {
    const tick = this.begun.get(session);
    const found = tick === undefined ? undefined : this.open.sessions.find(session);
    return found && setIn(found).includes(register) ? tick : undefined;
  }

  setRegister(session: string, register: string, value: unknown, { tick, device }: Stamp): void {
    this.open.connection.run('INSERT OR REPLACE INTO sync_stamps(session, name, tick, device) VALUES (?, ?, ?, ?)', [
      session,
      register,
      tick,
      device,
    ]);
    this.unsent.delete(JSON.stringify([session, register]));
    if (register === leafRegister) return this.open.sessions.setLeaf(session, typeof value === 'string' ? value : null);
    if (register.startsWith(pinPrefix)) return this.setPin(session, register.slice(pinPrefix.length), value);
    if (register.startsWith(metadataPrefix))
      return void this.open.sessions.update(session, { metadata: { [register.slice(metadataPrefix.length)]: value } });
    if (register === 'key') return typeof value === 'string' ? this.open.sessions.takeKey(session, value) : undefined;
    if (!Object.hasOwn(registerTypes, register)) return;
    const parsed = registerTypes[register as keyof typeof registerTypes].safeParse(value);
    if (parsed.success) this.open.sessions.update(session, { [register]: parsed.data } as SessionPatch);
  }

  leafOf(session: string): string | null {
    return this.open.sessions.require(session).leaf;
  }

  isAncestor(ancestor: string, entry: string): boolean {
    return this.open.tree.isOnBranch(ancestor, entry);
  }

  isHeld(session: string): boolean {
    return this.held.has(session);
  }

  standsElsewhere(session: string, leaf: string, stamp: Stamp): void {
    noteElsewhere(this.open.connection, session, leaf, stamp);
  }

  keepAttachment({ hash, mime, base64 }: AttachmentKept): void {
    const bytes = Buffer.from(base64, 'base64');
    if (sha256(bytes) === hash) this.open.attachments.keep(hash, mime, bytes);
  }

  hasNote(revision: string): boolean {
    return this.open.notes.has(revision);
  }

  keepNote(note: NoteWritten): void {
    this.open.notes.keep(note);
    this.notesKept.add(note.path);
  }

  /** When everything is merged. */
  settleNotes(): void {
    for (const path of this.notesKept) this.open.notes.settle(path);
  }

  purge(session: string): void {
    const { connection, purges } = this.open;
    connection.run('INSERT OR IGNORE INTO sync_purged(session) VALUES (?)', [session]);
    connection.run('UPDATE sync_state SET merging = 2');
    purges.takeNow(session);
    connection.run('UPDATE sync_state SET merging = 1');
    // A session that was not here yet has left no row to go by.
    connection.run('INSERT OR IGNORE INTO sync_dropped_keys(id, done) SELECT id, 0 FROM sync_keys WHERE session = ?', [session]);
    connection.run('DELETE FROM sync_keys WHERE session = ?', [session]);
    connection.run('DELETE FROM sync_waiting WHERE session = ?', [session]);
  }

  wait(needs: string, change: Change, device: string): void {
    this.open.connection.run('INSERT INTO sync_waiting(needs, session, device, change_json) VALUES (?, ?, ?, ?)', [
      needs,
      change.session,
      device,
      JSON.stringify(change),
    ]);
  }

  takeWaiting(needs: string): readonly { readonly change: Change; readonly device: string }[] {
    const { connection } = this.open;
    const rows = connection.all('SELECT device, change_json FROM sync_waiting WHERE needs = ? ORDER BY n', [needs]);
    if (rows.length > 0) connection.run('DELETE FROM sync_waiting WHERE needs = ?', [needs]);
    return rows.map((row) => ({ device: String(row['device']), change: JSON.parse(String(row['change_json'])) as Change }));
  }

  /** What has waited for sessions that nobody works in any more. */
  takeFree(): readonly { readonly change: Change; readonly device: string }[] {
    const rows = this.open.connection.all("SELECT DISTINCT session FROM sync_waiting WHERE needs LIKE 'free %'");
    return rows.flatMap(({ session }) => (this.isHeld(String(session)) ? [] : this.takeWaiting(needsFree(String(session)))));
  }

  private setPin(session: string, name: string, value: unknown): void {
    const [kind, target] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)];
    const parsed = PinValue.safeParse(value);
    if (!parsed.success || (kind !== 'entry' && kind !== 'file' && kind !== 'text')) return;
    if (parsed.data) this.open.pins.save({ session, kind, target, ...parsed.data } satisfies Pin);
    else this.open.pins.remove(session, kind, target);
  }
}
