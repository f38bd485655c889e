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

  async saveKey(history: string, entropy: Uint8Array): Promise<void> {
    const hex = Buffer.from(entropy).toString('hex');
    await this.secrets.store(keyOf(history), hex);
    await this.secrets.store(lastKey, hex);
  }

  async removeKey(history: string): Promise<void> {
    await this.secrets.delete(keyOf(history));
  }

  password(address: string): Promise<string | undefined> {
    return Promise.resolve(this.secrets.get(passwordOf(address)));
  }

  async savePassword(address: string, password: string): Promise<void> {
    if (password === '') await this.secrets.delete(passwordOf(address));
    else await this.secrets.store(passwordOf(address), password);
  }
}

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
