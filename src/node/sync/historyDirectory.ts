import { createHash, createHmac, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { SyncEngine } from '../../core/sync/syncEngine';
import { decrypt, encrypt } from './gcmSealer';
import { historyKeys, type HistoryKeys } from './historyKeys';
import { openEngine, type EngineAccess } from './openEngine';

const Line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('history'), name: z.string(), label: z.string(), at: z.number() }),
  z.object({ kind: z.literal('device'), history: z.string(), device: z.string(), name: z.string(), at: z.number() }),
]);
type Line = z.infer<typeof Line>;

/** A history of a recovery phrase: `name` tells it apart and is what its keys are made with, `label` is what people call it. */
export type ListedHistory = Omit<Extract<Line, { kind: 'history' }>, 'kind'>;
export type ListedDevice = Omit<Extract<Line, { kind: 'device' }>, 'kind'>;

/** No history that a user names has this name. */
const own = '\u0000directory';

/**
 * What histories of one recovery phrase there are at an engine, and how the devices of each are called. It is kept as a history of its
 * own whose logs are its lines, each under the key of the phrase: the engine learns how many there are. A line that was tampered with
 * counts as not there, and what it says is never more than a proposal.
 */
export class HistoryDirectory {
  private constructor(
    private readonly engine: SyncEngine,
    private readonly keys: HistoryKeys,
  ) {}

  /** Rejects with `EngineError`: `no_history` where this phrase has none and `create` is not set. */
  static async open(address: string, entropy: Uint8Array, access: Omit<EngineAccess, 'history'>): Promise<HistoryDirectory> {
    const keys = historyKeys(entropy, own);
    return new HistoryDirectory(await openEngine(address, { ...access, history: keys.history }), keys);
  }

  async list(): Promise<{ readonly histories: readonly ListedHistory[]; readonly devices: readonly ListedDevice[] }> {
    const lines = (await Promise.all((await this.engine.heads()).map(({ device, next }) => this.read(device, next)))).flat();
    return {
      histories: lines.flatMap((line) => (line.kind === 'history' ? [line] : [])).sort((a, b) => b.at - a.at),
      devices: lines.flatMap((line) => (line.kind === 'device' ? [line] : [])),
    };
  }

  noteHistory(line: ListedHistory): Promise<void> {
    return this.note({ kind: 'history', ...line });
  }

  noteDevice(line: ListedDevice): Promise<void> {
    return this.note({ kind: 'device', ...line });
  }

  /** The history, and what its devices are called. */
  async forget(name: string, history: string): Promise<void> {
    const { histories, devices } = await this.list();
    const lines: Line[] = [
      ...histories.filter((one) => one.name === name).map((one) => ({ kind: 'history' as const, ...one })),
      ...devices.filter((one) => one.history === history).map((one) => ({ kind: 'device' as const, ...one })),
    ];
    for (const line of lines) await this.engine.dropLog(this.logOf(line));
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  /** The last line of a log holds; of two devices that write it at once, one does. */
  private async note(line: Line): Promise<void> {
    const device = this.logOf(line);
    const head = (await this.engine.heads()).find((one) => one.device === device);
    const index = head?.next ?? 0;
    const sealed = encrypt(this.keys.wrapping, this.boundTo(device, index), Buffer.from(JSON.stringify(line)));
    const mark = createHash('sha256')
      .update(`${head?.mark ?? 0}`)
      .update(sealed)
      .digest()
      .readUInt32BE(0);
    await this.engine.push([{ device, index, id: randomUUID(), version: 1, mark, sealed }], []);
  }

  private async read(device: string, next: number): Promise<readonly Line[]> {
    const rows = await this.engine.pull({ device, from: next - 1, to: next });
    return rows.flatMap(({ index, sealed }) => {
      try {
        const plain = decrypt(this.keys.wrapping, this.boundTo(device, index), Buffer.from(sealed));
        const line = Line.parse(JSON.parse(plain.toString('utf8')));
        return this.logOf(line) === device ? [line] : [];
      } catch {
        return [];
      }
    });
  }

  private logOf(line: Line): string {
    const what = line.kind === 'history' ? ['history', line.name] : ['device', line.history, line.device];
    return createHmac('sha256', this.keys.heading).update(JSON.stringify(what)).digest('hex').slice(0, 32);
  }

  private boundTo(device: string, index: number): Buffer {
    return Buffer.from(JSON.stringify(['directory', this.keys.history, device, index]));
  }
}
