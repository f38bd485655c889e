import { ConfigurationTarget, InputBoxValidationSeverity, window, workspace } from 'vscode';
import { ModelError, type ModelFailure } from '../../core/models/modelEvent';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import type { ApiKeys } from './apiKeys';
import { settingKey } from '../settingsValues';
import { endpointOf, type Endpoint } from './endpoint';

export interface ApiKeyCommandsDeps {
  readonly keys: ApiKeys;
  /** Every provider with keys has one; where no address is set yet, it is empty. */
  readonly endpoint: (provider: Endpoint['provider']) => Endpoint;
  /** Asks the provider for its models with this key. Rejects with `ModelError`. */
  readonly verify: (key: string, endpoint: Endpoint) => Promise<void>;
  readonly log: Logger;
}

/**
 * Asks which provider (unless that is said), where it is, and for a key; tries it, keeps it. Resolves with whether something has changed;
 * never rejects.
 */
export async function setApiKey(deps: ApiKeyCommandsDeps, asked?: Endpoint['provider']): Promise<boolean> {
  const provider = asked ?? (await askForProvider(deps));
  if (!provider) return false;
  const endpoint = provider === 'openai-compatible' ? await askForServer(deps) : deps.endpoint(provider);
  if (!endpoint) return false;
  const key = await askForKey(endpoint, deps);
  if (key === undefined) return false;
  const kept = key === '' ? null : await deps.keys.store(endpoint, key);
  // Behind the key: whoever follows the setting asks the server at once.
  if (endpoint.provider === 'openai-compatible')
    await workspace.getConfiguration().update(settingKey('openaiCompatible.baseUrl'), endpoint.baseUrl, ConfigurationTarget.Global);
  if (kept === 'stored') void window.showInformationMessage(t('The API key is saved.'));
  if (kept === 'this_window') {
    void window.showWarningMessage(
      t('The API key works until this window is closed: VS Code could not save it. See “Threadkeeper: Show Log”.'),
    );
  }
  return true;
}

/** Resolves with whether a key was removed; never rejects. */
export async function removeApiKey({ keys, endpoint }: Pick<ApiKeyCommandsDeps, 'keys' | 'endpoint'>): Promise<boolean> {
  const places = [endpoint('anthropic'), endpoint('openai-compatible')].filter((place) => place.origin !== '' && keys.hasStored(place));
  const hosts = [...new Set(places.map(hostOf))];
  const host =
    hosts.length > 1 ? await window.showQuickPick(hosts, { title: t('Remove API Key'), placeHolder: t('The key for') }) : hosts[0];
  const place = places.find((one) => hostOf(one) === host);
  if (!place) return false;
  const remove = t('Remove');
  const answer = await window.showWarningMessage(t('Remove the API key for {0} from this machine?', hostOf(place)), remove);
  if (answer !== remove) return false;
  await keys.remove(place);
  return true;
}

/** Who has set no other server has only one provider with a key. */
async function askForProvider({ endpoint }: ApiKeyCommandsDeps): Promise<Endpoint['provider'] | undefined> {
  const server = endpoint('openai-compatible');
  if (server.baseUrl === '') return 'anthropic';
  const items = [
    { label: 'Claude', description: hostOf(endpoint('anthropic')), provider: 'anthropic' as const },
    { label: t('OpenAI-compatible server'), description: hostOf(server), provider: 'openai-compatible' as const },
  ];
  return (await window.showQuickPick(items, { title: t('Set API Key'), placeHolder: t('For which provider?'), ignoreFocusOut: true }))
    ?.provider;
}

async function askForServer({ endpoint }: ApiKeyCommandsDeps): Promise<Endpoint | undefined> {
  const address = await window.showInputBox({
    title: t('OpenAI-Compatible Server'),
    prompt: t('Its address, up to the version. Kept in the setting threadkeeper.openaiCompatible.baseUrl.'),
    placeHolder: 'http://localhost:1234/v1',
    value: endpoint('openai-compatible').baseUrl,
    ignoreFocusOut: true,
    validateInput: (value) =>
      /^https?:\/\//i.test(value.trim()) && URL.canParse(value.trim()) ? undefined : t('An http or https address.'),
  });
  return address?.trim() ? endpointOf(address, 'openai-compatible') : undefined;
}

/**
 * A key that the provider lets in, or that the user wants to have kept unchecked. What is wrong with it is said where it was typed,
 * which is gone when the next one is tried: a message would outlive its cause. Empty: the server wants none.
 */
function askForKey(endpoint: Endpoint, deps: ApiKeyCommandsDeps): Promise<string | undefined> {
  const isServer = endpoint.provider === 'openai-compatible';
  const input = window.createInputBox();
  input.title = t('Set API Key');
  const prompt = t(
    isServer
      ? "For {0}. The key is kept in VS Code's secret storage and sent to no other address. Leave it empty if the server wants none."
      : "For {0}. The key is kept in VS Code's secret storage and sent to no other address.",
    hostOf(endpoint),
  );
  input.prompt = prompt;
  input.placeholder = isServer ? 'sk-…' : 'sk-ant-…';
  input.password = true;
  input.ignoreFocusOut = true;
  return new Promise((resolve) => {
    /** Tried in vain to be checked: it is kept when it is entered again. */
    let unchecked: string | null = null;
    const done = (key: string | undefined) => {
      resolve(key);
      input.dispose();
    };
    input.onDidChangeValue((value) => (input.validationMessage = complaint(value) ?? ''));
    input.onDidHide(() => {
      if (input.busy)
        void window.showInformationMessage(t('The API key was not saved: its input was closed while the key was being checked.'));
      done(undefined);
    });
    input.onDidAccept(async () => {
      const key = input.value.trim();
      if (input.busy || complaint(key) !== undefined) return;
      if (key === '' && !isServer) return done(undefined);
      if (key === unchecked) return done(key);
      input.busy = true;
      input.enabled = false;
      // The bar that moves says nothing to who does not see it.
      input.prompt = t('Checking…');
      const problem = await problemWith(key, endpoint, deps);
      input.busy = false;
      if (!problem) return done(key);
      input.enabled = true;
      input.prompt = prompt;
      unchecked = problem.isRefusal ? null : key;
      input.validationMessage = {
        message: problem.text,
        severity: problem.isRefusal ? InputBoxValidationSeverity.Error : InputBoxValidationSeverity.Warning,
      };
    });
    input.show();
  });
}

function complaint(value: string): string | undefined {
  const text = value.trim();
  return text === '' || /^[\x21-\x7e]+$/.test(text) ? undefined : t('An API key has no spaces and no special characters.');
}

interface KeyProblem {
  readonly text: string;
  /** The provider does not let it in; else nobody knows whether it does. */
  readonly isRefusal: boolean;
}

async function problemWith(key: string, endpoint: Endpoint, { verify, log }: ApiKeyCommandsDeps): Promise<KeyProblem | null> {
  try {
    await verify(key, endpoint);
    return null;
  } catch (error) {
    const failure: ModelFailure = ModelError.is(error) ? error.failure : { reason: 'network', detail: errorText(error) };
    log.warn('key_not_verified', { reason: failure.reason, status: failure.status, detail: failure.detail });
    const said = failure.detail ? ` (${shown(failure.detail)})` : '';
    if (failure.reason === 'bad_key')
      return {
        isRefusal: true,
        text: t('{0} refused this API key{1}. It was not saved. Enter another one, or press Escape.', hostOf(endpoint), said),
      };
    // The server knows the key but has no list of models, as some gateways.
    if (failure.reason === 'unknown_model' || failure.status === 404 || failure.status === 405 || failure.status === 501) return null;
    return {
      isRefusal: false,
      text: t('The API key could not be checked: {0} could not be asked{1}. Press Enter again to save it anyway.', hostOf(endpoint), said),
    };
  }
}

function hostOf({ origin }: Endpoint): string {
  return URL.canParse(origin) ? new URL(origin).host : origin;
}
