import type { Memento, SecretStorage } from 'vscode';
import { Emitter } from '../../core/base/event';
import type { Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import type { Endpoint } from './endpoint';

export interface ApiKey {
  readonly key: string;
  readonly source: 'stored' | 'environment';
}

export interface ApiKeysDeps {
  readonly secrets: Pick<SecretStorage, 'get' | 'store' | 'delete' | 'onDidChange'>;
  /** Remembers which endpoints have a key, so that no keychain has to be asked (or unlocked) to know. */
  readonly state: Pick<Memento, 'get' | 'update'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger & { hide(secret: string): void };
  /** A keychain that waits for its user answers late; one that is broken, never. */
  readonly patienceMs?: number;
}

const storedKey = 'threadkeeper.keyOrigins';

/** The API keys, one for each endpoint: in VS Code's secret storage, else ANTHROPIC_API_KEY of the environment. */
export class ApiKeys implements Disposable {
  private readonly _onDidChange = new Emitter<void>();
  readonly onDidChange = this._onDidChange.event;
  private readonly _onDidBreak = new Emitter<string>();
  /** The secret storage does not work, or has lost a key; what happened and what to do. Fires once. */
  readonly onDidBreak = this._onDidBreak.event;
  private readonly subscription: Disposable;
  /** Keys that could not be stored live as long as the window; null: removed although the storage refused. */
  private readonly held = new Map<string, string | null>();
  /** Origins whose key another window has just changed: this window's state does not know of it. */
  private readonly changedElsewhere = new Set<string>();
  private broken = false;
  private foreignNoted = false;

  constructor(private readonly deps: ApiKeysDeps) {
    this.subscription = deps.secrets.onDidChange(({ key }) => {
      if (!key.startsWith(secretPrefix)) return;
      this.changedElsewhere.add(key.slice(secretPrefix.length));
      this._onDidChange.fire();
    });
  }

  /** Never rejects: a storage that cannot be read counts as empty, and `onDidBreak` says so. */
  async find(endpoint: Endpoint): Promise<ApiKey | undefined> {
    const key = await this.stored(endpoint);
    if (key) return this.found({ key, source: 'stored' });
    const fromEnvironment = this.environmentKey(endpoint);
    if (fromEnvironment) return this.found({ key: fromEnvironment, source: 'environment' });
    // What another window has removed is no loss.
    if (!this.broken && this.hasStored(endpoint) && !this.changedElsewhere.has(endpoint.origin))
      this.report('key_missing', lostText(endpoint.origin));
    return undefined;
  }

  /** Whether a key has been stored, without asking the keychain. */
  hasStored({ origin }: Endpoint): boolean {
    return this.held.get(origin) !== null && (this.held.has(origin) || this.origins().includes(origin));
  }

  /** Where `find` will presumably find a key, without asking the keychain. */
  expected(endpoint: Endpoint): ApiKey['source'] | undefined {
    if (this.hasStored(endpoint)) return 'stored';
    return this.environmentKey(endpoint) ? 'environment' : undefined;
  }

  /** Reads the key back: a storage that swallows it is noticed here and not after the next start. */
  async store({ origin }: Endpoint, key: string): Promise<'stored' | 'this_window'> {
    this.deps.log.hide(key);
    const { secrets } = this.deps;
    let kept = false;
    try {
      await this.inTime(secrets.store(nameOf(origin), key));
      kept = (await this.inTime(secrets.get(nameOf(origin)))) === key;
      if (!kept) this.report(t('A key that was just saved could not be read back.'));
    } catch (error) {
      this.report(errorText(error));
    }
    if (kept) this.held.delete(origin);
    else this.held.set(origin, key);
    await this.remember(origin, kept);
    this._onDidChange.fire();
    return kept ? 'stored' : 'this_window';
  }

  async remove({ origin }: Endpoint): Promise<void> {
    this.held.delete(origin);
    try {
      await this.inTime(this.deps.secrets.delete(nameOf(origin)));
    } catch (error) {
      this.held.set(origin, null);
      this.report(errorText(error));
    }
    await this.remember(origin, false);
    this._onDidChange.fire();
  }

  dispose(): void {
    this.subscription.dispose();
    this._onDidChange.dispose();
    this._onDidBreak.dispose();
  }

  private async stored({ origin }: Endpoint): Promise<string | undefined> {
    const held = this.held.get(origin);
    if (held !== undefined) return held ?? undefined;
    // Asking may make the system's keychain ask for its password: not for a key that was never stored.
    if (!this.origins().includes(origin)) return undefined;
    try {
      return (await this.inTime(this.deps.secrets.get(nameOf(origin)))) || undefined;
    } catch (error) {
      this.report(errorText(error));
      return undefined;
    }
  }

  /** A key of the environment goes with the address of the environment, if that names one. */
  private environmentKey({ provider, baseUrl, origin }: Endpoint): string | undefined {
    const { env, log } = this.deps;
    if (provider === 'openai-compatible') return (origin === openaiOrigin && env['OPENAI_API_KEY']?.trim()) || undefined;
    const key = env['ANTHROPIC_API_KEY']?.trim();
    if (!key) return undefined;
    const address = env['ANTHROPIC_BASE_URL']?.trim();
    if (baseUrl === '' && address && URL.canParse(address) && new URL(address).origin !== origin) {
      if (!this.foreignNoted)
        log.info('environment_key_not_used', {
          detail: 'ANTHROPIC_BASE_URL names another address than the setting threadkeeper.anthropic.baseUrl.',
        });
      this.foreignNoted = true;
      return undefined;
    }
    return key;
  }

  private found(key: ApiKey): ApiKey {
    this.deps.log.hide(key.key);
    return key;
  }

  private origins(): readonly string[] {
    const value = this.deps.state.get<unknown>(storedKey);
    const known = Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
    return [...new Set([...known, ...this.changedElsewhere])];
  }

  private async remember(origin: string, has: boolean): Promise<void> {
    this.changedElsewhere.delete(origin);
    const others = this.origins().filter((one) => one !== origin);
    try {
      await this.deps.state.update(storedKey, has ? [...others, origin] : others);
    } catch (error) {
      this.deps.log.warn('state_not_saved', { detail: errorText(error) });
    }
  }

  private report(detail: string, text = brokenText()): void {
    this.deps.log.error('secret_storage_failed', { detail });
    if (this.broken) return;
    this.broken = true;
    this._onDidBreak.fire(text);
  }

  private async inTime<T>(work: PromiseLike<T>): Promise<T> {
    const ms = this.deps.patienceMs ?? 60_000;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(t('The secret storage did not answer within {0} s.', ms / 1000))), ms);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The only server that the environment's OPENAI_API_KEY is meant for without a doubt. */
const openaiOrigin = 'https://api.openai.com';
const secretPrefix = 'threadkeeper.apiKey:';
const lostText = (origin: string) =>
  t(
    'The API key for {0} is not in VS Code’s secret storage any more, so models there cannot be asked. Set it again with “Threadkeeper: Set API Key…”.',
    origin,
  );
const brokenText = () =>
  t(
    "VS Code's secret storage does not work on this machine, so the API key cannot be kept. Set the environment variable ANTHROPIC_API_KEY before starting VS Code, or repair the system's keychain (on Linux: install gnome-keyring or kwallet, or start VS Code with --password-store=basic).",
  );

function nameOf(origin: string): string {
  return `${secretPrefix}${origin}`;
}
