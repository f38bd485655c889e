import {
  isLater,
  leafRegister,
  type AttachmentKept,
  type CarriedEntry,
  type Change,
  type NoteWritten,
  type SessionBegun,
  type Stamp,
} from '../../../src/core/sync/change';
import { noteState, type NoteState } from '../../../src/core/sync/noteRevisions';
import { mergeChange, type MergeTarget } from '../../../src/core/sync/merge';
import type { SealedRecord, SessionKey } from '../../../src/core/sync/sealedRecord';
import type { LogRange } from '../../../src/core/sync/syncEngine';
import type { Held, PendingChanges, PendingReceipt, ReceivedRow, SyncReplica, WantedKeys } from '../../../src/core/sync/syncReplica';
import type { KeptKeys } from './plainSealer';

interface Row extends CarriedEntry {
  session: string;
}

interface Register {
  value: unknown;
  readonly stamp: Stamp;
}

type Told =
  | { readonly kind: 'session'; readonly session: string }
  | { readonly kind: 'purge'; readonly session: string }
  | { readonly kind: 'entry'; readonly session: string; readonly entry: string }
  | { readonly kind: 'note'; readonly session: ''; readonly note: NoteWritten }
  | { readonly kind: 'register'; readonly session: string; readonly name: string };

type Pending = Told & { readonly n: number; readonly tick: number };

/** A store for synchronising, in memory: what survives a crash of its process. Each method is one transaction. */
export class MemoryReplica implements SyncReplica, MergeTarget, KeptKeys {
  readonly sessions = new Map<string, SessionBegun>();
  readonly entries = new Map<string, Row>();
  readonly registers = new Map<string, Map<string, Register>>();
  readonly purged = new Set<string>();
  readonly waiting = new Map<string, { readonly change: Change; readonly device: string }[]>();
  private readonly children = new Map<string, Set<string>>();
  private readonly bySession = new Map<string, Set<string>>();
  private readonly notes = new Map<string, NoteWritten[]>();
  private readonly noteIds = new Set<string>();
  private readonly noteStates = new Map<string, NoteState>();
  private readonly logs = new Map<string, SealedRecord[]>();
  private readonly kept = new Map<string, SessionKey>();
  private readonly keyIds = new Map<string, string>();
  private readonly unpushed = new Set<string>();
  private readonly dropped = new Set<string>();
  private readonly undropped = new Set<string>();
  private readonly unread = new Map<
    string,
    { readonly device: string; readonly index: number; readonly session: string; readonly keyId: string }
  >();
  private outbox: Pending[] = [];
  private lastPending = 0;
  private clock = 0;
  private seq = 0;

  constructor(
    public device: string,
    private readonly now: () => number,
  ) {}

  // ------------------------------------------------------------------------------------------------ what a user does here

  begin(session: string, forkEntry: string | null): void {
    const parentSession = forkEntry === null ? null : this.entries.get(forkEntry)!.session;
    this.sessions.set(session, { kind: 'session', session, id: session, key: session, cwd: null, createdAt: 1, parentSession, forkEntry });
    this.queue({ kind: 'session', session });
    if (forkEntry !== null) this.set(session, leafRegister, forkEntry);
  }

  say(session: string, uuid: string, text: string): void {
    const parent = this.leafOf(session);
    this.insert(session, {
      uuid,
      parent,
      createdAt: 1,
      modelFacing: true,
      display: true,
      tokenEstimate: null,
      seq: 0,
      content: { type: 'message', role: 'user', text },
    });
    this.queue({ kind: 'entry', session, entry: uuid });
    this.set(session, leafRegister, uuid);
  }

  set(session: string, name: string, value: unknown): Stamp {
    const tick = this.tick();
    const stamp = { tick, device: this.device };
    this.put(session, name, { value, stamp });
    this.queue({ kind: 'register', session, name }, tick);
    return stamp;
  }

  /** Null deletes it. */
  writeNote(path: string, revision: string, text: string | null): void {
    const note: NoteWritten = { kind: 'note', session: '', path, revision, parents: [...this.note(path).heads], text, tick: this.tick() };
    this.keepNote(note);
    this.queue({ kind: 'note', session: '', note }, note.tick);
  }

  note(path: string): NoteState {
    const known = this.noteStates.get(path);
    if (known) return known;
    const state = noteState((this.notes.get(path) ?? []).map(({ revision: id, parents, text, tick }) => ({ id, parents, text, tick })));
    this.noteStates.set(path, state);
    return state;
  }

  get notePaths(): readonly string[] {
    return [...this.notes.keys()];
  }

  entriesOf(session: string): readonly string[] {
    return [...(this.bySession.get(session) ?? [])];
  }

  sessionOfKey(id: string): string | undefined {
    return this.kept.get(id)?.session;
  }

  keyOfSession(session: string): string | undefined {
    return this.keyIds.get(session);
  }

  purgeHere(session: string): void {
    this.purge(session);
    this.queue({ kind: 'purge', session });
  }

  // ------------------------------------------------------------------------------------------------------------- merging

  observe(tick: number): void {
    this.clock = Math.max(this.clock, tick);
  }

  isPurged(session: string): boolean {
    return this.purged.has(session);
  }

  hasSession(session: string): boolean {
    return this.sessions.has(session);
  }

  beginSession(session: SessionBegun): void {
    this.sessions.set(session.session, session);
  }

  createdAt(session: string): number {
    return this.sessions.get(session)?.createdAt ?? Infinity;
  }

  ownerOf(entry: string): string | undefined {
    return this.entries.get(entry)?.session;
  }

  insert(session: string, entry: CarriedEntry): void {
    if (this.entries.has(entry.uuid)) throw new Error(`${entry.uuid} twice`);
    if (entry.parent !== null && !this.entries.has(entry.parent)) throw new Error(`${entry.uuid} before its parent`);
    this.entries.set(entry.uuid, { ...entry, session, seq: ++this.seq });
    this.give(entry.uuid, session);
    if (entry.parent !== null) this.children.set(entry.parent, (this.children.get(entry.parent) ?? new Set()).add(entry.uuid));
  }

  isStandIn(): boolean {
    return false;
  }

  replace(): never {
    throw new Error('Nothing is repaired in the simulation');
  }

  addUsage(): void {
    // Usage is a set of rows: nothing of the order can go wrong.
  }

  handOver(entry: string, session: string): void {
    const row = this.entries.get(entry)!;
    this.bySession.get(row.session)?.delete(entry);
    row.session = session;
    this.give(entry, session);
  }

  private give(entry: string, session: string): void {
    const all = this.bySession.get(session) ?? new Set();
    this.bySession.set(session, all.add(entry));
  }

  stampOf(session: string, register: string): Stamp | undefined {
    return this.registers.get(session)?.get(register)?.stamp;
  }

  setRegister(session: string, register: string, value: unknown, stamp: Stamp): void {
    this.put(session, register, { value, stamp });
  }

  leafOf(session: string): string | null {
    const leaf = this.registers.get(session)?.get(leafRegister)?.value;
    return typeof leaf === 'string' && this.entries.has(leaf) ? leaf : null;
  }

  isAncestor(ancestor: string, entry: string): boolean {
    for (let at: string | null = entry; at !== null; at = this.entries.get(at)?.parent ?? null) if (at === ancestor) return true;
    return false;
  }

  isHeld(): boolean {
    return false;
  }

  /** Nothing is lost or agreed on by it. */
  standsElsewhere(): void {
    return undefined;
  }

  keepAttachment(_attachment: AttachmentKept): void {
    // The simulation has none.
  }

  hasNote(revision: string): boolean {
    return this.noteIds.has(revision);
  }

  keepNote(note: NoteWritten): void {
    if (this.noteIds.has(note.revision)) throw new Error(`${note.revision} twice`);
    this.noteIds.add(note.revision);
    this.notes.set(note.path, [...(this.notes.get(note.path) ?? []), note]);
    this.noteStates.delete(note.path);
  }

  wait(needs: string, change: Change, device: string): void {
    this.waiting.set(needs, [...(this.waiting.get(needs) ?? []), { change, device }]);
  }

  takeWaiting(needs: string): readonly { readonly change: Change; readonly device: string }[] {
    const found = this.waiting.get(needs) ?? [];
    this.waiting.delete(needs);
    return found;
  }

  purge(session: string): void {
    for (const [uuid, heir] of this.neededWithout(session)) {
      this.handOver(uuid, heir);
      this.queue({ kind: 'entry', session: heir, entry: uuid });
    }
    for (const uuid of this.entriesOf(session)) {
      const { parent } = this.entries.get(uuid)!;
      this.entries.delete(uuid);
      if (parent !== null) this.children.get(parent)?.delete(uuid);
    }
    this.bySession.delete(session);
    this.sessions.delete(session);
    this.registers.delete(session);
    this.purged.add(session);
    for (const [needs, waiting] of this.waiting) {
      const left = waiting.filter(({ change }) => change.session !== session);
      if (left.length > 0) this.waiting.set(needs, left);
      else this.waiting.delete(needs);
    }
    this.outbox = this.outbox.filter((one) => one.session !== session || one.kind === 'purge');
    for (const [id, key] of this.kept) {
      if (key.session !== session) continue;
      this.kept.delete(id);
      this.unpushed.delete(id);
      this.dropped.add(id);
      this.undropped.add(id);
    }
    this.keyIds.delete(session);
  }

  /** Entries of the session that others stand on, with the one that gets each: the lowest of those that need it. */
  private neededWithout(session: string): Map<string, string> {
    const needs = new Map<string, string[]>();
    for (const other of this.sessions.values()) {
      if (other.session === session) continue;
      for (const at of [other.forkEntry, this.leafOf(other.session)]) {
        if (at !== null) needs.set(at, [...(needs.get(at) ?? []), other.session]);
      }
    }
    const heirs = new Map<string, string>();
    // Children before their parents: each is written after what it stands on.
    const below = new Set(this.entriesOf(session));
    for (const uuid of below) for (const child of this.children.get(uuid) ?? []) below.add(child);
    const ordered = [...below].map((uuid) => this.entries.get(uuid)!).sort((a, b) => b.seq - a.seq);
    const lowest = new Map<string, string>();
    for (const { uuid, parent, session: owner } of ordered) {
      const wanted = [
        ...(owner === session ? [] : [owner]),
        ...(needs.get(uuid) ?? []),
        ...(lowest.has(uuid) ? [lowest.get(uuid)!] : []),
      ].sort()[0];
      if (wanted === undefined) continue;
      if (owner === session) heirs.set(uuid, wanted);
      if (parent !== null && (lowest.get(parent) ?? wanted) >= wanted) lowest.set(parent, wanted);
    }
    return heirs;
  }

  // ------------------------------------------------------------------------------------------------------- synchronising

  held(): Promise<Held> {
    return Promise.resolve({
      device: this.device,
      logs: [...this.logs].map(([device, rows]) => ({ device, next: rows.length, mark: rows.at(-1)?.mark ?? 0 })),
      keysToPush: [...this.unpushed].map((id) => this.kept.get(id)!),
      droppedKeys: [...this.dropped],
      keysToDrop: [...this.undropped],
      waitsForTurn: false,
      unread: [...this.unread.values()].filter(({ session }) => !this.purged.has(session)),
    });
  }

  async keys(wanted: WantedKeys): Promise<readonly SessionKey[]> {
    const all = [...this.kept.values()];
    if (wanted === 'all') return all;
    return 'ids' in wanted
      ? all.filter(({ id }) => wanted.ids.includes(id))
      : all.filter(({ session }) => wanted.sessions.includes(session));
  }

  rows({ device, from, to }: LogRange): Promise<readonly SealedRecord[]> {
    return Promise.resolve((this.logs.get(device) ?? []).slice(from, Math.min(to, from + 50)));
  }

  pending(most: number): Promise<PendingChanges> {
    const taken = this.outbox.slice(0, most);
    const through = taken.at(-1)?.n;
    const last = new Map(this.outbox.map((one) => [one.kind === 'register' ? `${one.session} ${one.name}` : String(one.n), one]));
    const changes = taken.flatMap((one): Change[] => {
      if (one.kind === 'purge') return [{ kind: 'purge', session: one.session }];
      if (one.kind === 'note') return [one.note];
      const begun = this.sessions.get(one.session);
      if (!begun) return [];
      if (one.kind === 'session') return [begun];
      if (one.kind === 'entry') {
        const entry = this.entries.get(one.entry);
        if (!entry) return [];
        const { session: _, ...carried } = entry;
        return [{ kind: 'entries', session: one.session, entries: [carried], usage: [] }];
      }
      const register = this.registers.get(one.session)?.get(one.name);
      if (!register || last.get(`${one.session} ${one.name}`) !== one) return [];
      return [{ kind: 'registers', session: one.session, values: [{ name: one.name, value: register.value, tick: one.tick }] }];
    });
    const receipt = through === undefined ? null : { through, stamps: [], attachments: [] };
    return Promise.resolve({ changes, receipt, isLast: taken.length === this.outbox.length });
  }

  write(rows: readonly SealedRecord[], keys: readonly SessionKey[], receipt: PendingReceipt | null): Promise<void> {
    for (const row of rows) this.hold(row);
    this.addKeys(keys, false);
    if (receipt) this.outbox = this.outbox.filter(({ n }) => n > receipt.through);
    return Promise.resolve();
  }

  receive(rows: readonly ReceivedRow[], keys: readonly SessionKey[]): Promise<void> {
    this.addKeys(keys, true);
    for (const { row, change, unread, early } of rows) {
      if (early) {
        if (change) mergeChange(this, change, row.device);
        continue;
      }
      if (row.index >= (this.logs.get(row.device)?.length ?? 0)) this.hold(row);
      const place = `${row.device} ${row.index}`;
      if (unread) this.unread.set(place, { device: row.device, index: row.index, ...unread });
      else this.unread.delete(place);
      if (change) mergeChange(this, change, row.device);
    }
    return Promise.resolve();
  }

  settleKeys(pushed: readonly string[], dropped: readonly string[]): Promise<void> {
    for (const id of pushed) this.unpushed.delete(id);
    for (const id of dropped) this.undropped.delete(id);
    return Promise.resolve();
  }

  renew(device: string, from: number, rows: readonly SealedRecord[], keys: readonly SessionKey[]): Promise<void> {
    this.logs.get(this.device)?.splice(from);
    this.device = device;
    for (const row of rows) this.hold(row);
    this.addKeys(keys, false);
    return Promise.resolve();
  }

  /** All that is here, so that two replicas can be compared; where each stands in a session is its own. */
  get state(): Readonly<Record<'tree' | 'registers' | 'sessions' | 'notes', readonly string[]>> {
    return {
      notes: this.notePaths.map((path) => JSON.stringify([path, this.note(path)])).sort(),
      sessions: [...this.sessions.keys()].sort(),
      tree: [...this.entries.values()].map(({ uuid, parent, session, content }) => JSON.stringify([uuid, parent, session, content])).sort(),
      registers: [...this.registers]
        .flatMap(([session, values]) =>
          [...values]
            .filter(([name]) => name !== leafRegister)
            .map(([name, { value, stamp }]) => JSON.stringify([session, name, value, stamp])),
        )
        .sort(),
    };
  }

  private put(session: string, name: string, register: Register): void {
    const values = this.registers.get(session) ?? new Map<string, Register>();
    const known = values.get(name);
    if (known && !isLater(register.stamp, known.stamp)) throw new Error(`${name} of ${session} goes back`);
    this.registers.set(session, values.set(name, register));
  }

  private tick(): number {
    this.clock = Math.max(this.clock + 1, this.now() * 1024);
    return this.clock;
  }

  private queue(one: Told, tick = this.tick()): void {
    this.outbox.push({ ...one, n: ++this.lastPending, tick });
  }

  private hold(row: SealedRecord): void {
    const rows = this.logs.get(row.device) ?? [];
    if (rows.length !== row.index) throw new Error(`row ${row.index} after ${rows.length} of ${row.device}`);
    rows.push(row);
    this.logs.set(row.device, rows);
  }

  private addKeys(keys: readonly SessionKey[], isPushed: boolean): void {
    for (const key of keys) {
      if (this.kept.has(key.id) || this.purged.has(key.session)) continue;
      this.kept.set(key.id, key);
      if (!this.keyIds.has(key.session)) this.keyIds.set(key.session, key.id);
      if (!isPushed) this.unpushed.add(key.id);
    }
  }
}
