import type { SealedRecord, WrappedKey } from '../../../src/core/sync/sealedRecord';
import type { EngineHead, LogRange, SyncEngine } from '../../../src/core/sync/syncEngine';

/** An engine in memory, which can lose what it was given, and give it back otherwise. */
export class MemoryEngine implements SyncEngine {
  readonly logs = new Map<string, Map<number, SealedRecord>>();
  readonly wrapped = new Map<string, WrappedKey>();
  /** Calls, each one round trip. */
  readonly calls: string[] = [];
  mostRows = 50;
  /** Highest index that each log has ever had: looking for it anew took most of the time of a long simulation. */
  private readonly tops = new Map<string, number>();

  /** Of all records that it has. */
  get bytes(): number {
    return [...this.logs.values()].flatMap((log) => [...log.values()]).reduce((sum, { sealed }) => sum + sealed.length, 0);
  }

  heads(): Promise<readonly EngineHead[]> {
    this.calls.push('heads');
    return Promise.resolve(
      [...this.logs].flatMap(([device, rows]) => {
        if (rows.size === 0) return [];
        let last = this.tops.get(device) ?? Math.max(...rows.keys());
        while (!rows.has(last)) last--;
        return [{ device, next: last + 1, count: rows.size, mark: rows.get(last)!.mark }];
      }),
    );
  }

  pull({ device, from, to }: LogRange): Promise<readonly SealedRecord[]> {
    this.calls.push('pull');
    const found: SealedRecord[] = [];
    const rows = this.logs.get(device);
    for (let index = from; index < to && found.length < this.mostRows; index++) {
      const row = rows?.get(index);
      if (row) found.push(row);
    }
    return Promise.resolve(found);
  }

  push(rows: readonly SealedRecord[], keys: readonly WrappedKey[]): Promise<void> {
    this.calls.push('push');
    for (const key of keys) if (!this.wrapped.has(key.id)) this.wrapped.set(key.id, key);
    for (const row of rows) {
      const log = this.logs.get(row.device) ?? new Map<number, SealedRecord>();
      if (!log.has(row.index)) log.set(row.index, row);
      this.logs.set(row.device, log);
      this.tops.set(row.device, Math.max(row.index, this.tops.get(row.device) ?? 0));
    }
    return Promise.resolve();
  }

  counts(ranges: readonly LogRange[]): Promise<readonly number[]> {
    this.calls.push('counts');
    return Promise.resolve(
      ranges.map(({ device, from, to }) => {
        const log = this.logs.get(device);
        let count = 0;
        for (let index = from; index < to; index++) if (log?.has(index) === true) count++;
        return count;
      }),
    );
  }

  keys(ids: readonly string[]): Promise<readonly WrappedKey[]> {
    this.calls.push('keys');
    return Promise.resolve(ids.flatMap((id) => this.wrapped.get(id) ?? []));
  }

  dropKeys(ids: readonly string[]): Promise<void> {
    this.calls.push('dropKeys');
    for (const id of ids) this.wrapped.delete(id);
    return Promise.resolve();
  }

  dropLog(device: string): Promise<void> {
    this.calls.push('dropLog');
    this.logs.delete(device);
    this.tops.delete(device);
    return Promise.resolve();
  }

  dropAll(): Promise<void> {
    for (const kept of [this.logs, this.wrapped, this.tops]) kept.clear();
    this.beside = null;
    return Promise.resolve();
  }

  private beside: MemoryEngine | null = null;
  attachments(): MemoryEngine {
    return (this.beside ??= new MemoryEngine());
  }

  listen(): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
