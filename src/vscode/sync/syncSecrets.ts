import type { SecretStorage } from 'vscode';

/** What nobody but the user's keyring holds: the keys of histories and the passwords of databases. */
export class SyncSecrets {
  constructor(private readonly secrets: Pick<SecretStorage, 'get' | 'store' | 'delete'>) {}

  /** What the recovery phrase of a history stands for. */
  async key(history: string): Promise<Uint8Array | undefined> {
    return fromHex(await this.secrets.get(keyOf(history)));
  }

  /** The one that was used last on this machine, for its other workspaces. */
  async lastKey(): Promise<Uint8Array | undefined> {
    return fromHex(await this.secrets.get(lastKey));
  }

  /** What a workspace was set up with. An empty password is none. */
  async save({ history, engine }: Used, workspace: string | null, entropy: Uint8Array, password: string): Promise<void> {
    const hex = Buffer.from(entropy).toString('hex');
    await this.secrets.store(keyOf(history), hex);
    await this.secrets.store(lastKey, hex);
    if (password === '') await this.secrets.delete(passwordOf(engine));
    else await this.secrets.store(passwordOf(engine), password);
    const others = (await this.uses()).filter((use) => use.workspace !== workspace || use.history !== history);
    await this.secrets.store(uses, JSON.stringify([...others, { history, engine, workspace }]));
  }

  /** Whether the workspace was set up so, and nobody has left since. */
  async isUsed({ history, engine }: Used, workspace: string | null): Promise<boolean> {
    return (await this.uses()).some((use) => use.history === history && use.engine === engine && use.workspace === workspace);
  }

  /** Removes what no other workspace of this machine uses. */
  async forget({ history, engine }: Used, workspace: string | null): Promise<void> {
    const others = (await this.uses()).filter((use) => use.workspace !== workspace || use.history !== history);
    await this.secrets.store(uses, JSON.stringify(others));
    if (!others.some((use) => use.engine === engine)) await this.secrets.delete(passwordOf(engine));
    if (others.some((use) => use.history === history)) return;
    const hex = await this.secrets.get(keyOf(history));
    await this.secrets.delete(keyOf(history));
    const keysThere = await Promise.all(others.map((use) => this.secrets.get(keyOf(use.history))));
    if (hex === (await this.secrets.get(lastKey)) && !keysThere.includes(hex)) await this.secrets.delete(lastKey);
  }

  password(address: string): Promise<string | undefined> {
    return Promise.resolve(this.secrets.get(passwordOf(address)));
  }

  private async uses(): Promise<readonly Use[]> {
    try {
      const value: unknown = JSON.parse((await this.secrets.get(uses)) ?? '[]');
      return Array.isArray(value) ? value.filter(isUse) : [];
    } catch {
      return [];
    }
  }
}

interface Used {
  readonly history: string;
  /** Folder or database. */
  readonly engine: string;
}

/** A workspace of this machine that is synchronized; `workspace` is its folder, null for windows without one. */
interface Use extends Used {
  readonly workspace: string | null;
}

function isUse(value: unknown): value is Use {
  const { history, engine, workspace } = (value ?? {}) as Record<string, unknown>;
  return typeof history === 'string' && typeof engine === 'string' && (workspace === null || typeof workspace === 'string');
}

const uses = 'threadkeeper.sync.uses';

const lastKey = 'threadkeeper.sync.lastKey';

function keyOf(history: string): string {
  return `threadkeeper.sync.key.${history}`;
}

function passwordOf(address: string): string {
  return `threadkeeper.sync.password.${address}`;
}

function fromHex(text: string | undefined): Uint8Array | undefined {
  return text !== undefined && /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined;
}
