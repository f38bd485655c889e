import { ProgressLocation, window } from 'vscode';
import { ModelError } from '../core/chat/modelError';
import { errorText } from '../core/errors';
import type { Logger, ModelFailure } from '../core/ports';
import type { ApiKeys } from './apiKeys';
import type { Endpoint } from './endpoint';

export interface ApiKeyCommandsDeps {
  readonly keys: ApiKeys;
  readonly endpoint: () => Endpoint;
  /** Asks the provider for its models with this key. Rejects with `ModelError`. */
  readonly verify: (key: string, endpoint: Endpoint) => Promise<void>;
  readonly log: Logger;
}

/** Asks for a key, tries it, keeps it. Resolves with whether there is a new one; never rejects. */
export async function setApiKey(deps: ApiKeyCommandsDeps): Promise<boolean> {
  const endpoint = deps.endpoint();
  for (;;) {
    const key = await askForKey(endpoint);
    if (key === undefined) return false;
    const verdict = await verdictOn(key, endpoint, deps);
    if (verdict === 'again') continue;
    if (verdict === 'cancel') return false;
    if ((await deps.keys.store(endpoint, key)) === 'this_window') {
      void window.showWarningMessage('The API key works until this window is closed: VS Code could not save it. See “Threadkeeper: Show Log”.');
    }
    return true;
  }
}

/** Resolves with whether a key was removed; never rejects. */
export async function removeApiKey({ keys, endpoint }: Pick<ApiKeyCommandsDeps, 'keys' | 'endpoint'>): Promise<boolean> {
  const place = endpoint();
  const remove = 'Remove';
  const answer = await window.showWarningMessage(`Remove the API key for ${hostOf(place)} from this machine?`, remove);
  if (answer !== remove) return false;
  await keys.remove(place);
  return true;
}

async function askForKey(endpoint: Endpoint): Promise<string | undefined> {
  const key = await window.showInputBox({
    title: 'Set API Key',
    prompt: `For ${hostOf(endpoint)}. The key is kept in VS Code's secret storage and sent to no other address.`,
    placeHolder: 'sk-ant-…',
    password: true,
    ignoreFocusOut: true,
    validateInput: (value) => {
      const text = value.trim();
      if (text === '') return undefined;
      return /^[\x21-\x7e]+$/.test(text) ? undefined : 'An API key has no spaces and no special characters.';
    },
  });
  return key?.trim() || undefined;
}

async function verdictOn(key: string, endpoint: Endpoint, { verify, log }: ApiKeyCommandsDeps): Promise<'save' | 'again' | 'cancel'> {
  try {
    await window.withProgress({ location: ProgressLocation.Window, title: 'Threadkeeper: checking the API key' }, () => verify(key, endpoint));
    return 'save';
  } catch (error) {
    const failure: ModelFailure = ModelError.is(error) ? error.failure : { reason: 'network', detail: errorText(error) };
    log.warn('key_not_verified', { reason: failure.reason, status: failure.status, detail: failure.detail });
    const said = failure.detail ? ` (${failure.detail})` : '';
    if (failure.reason === 'bad_key') {
      const again = 'Enter Again';
      return (await window.showErrorMessage(`${hostOf(endpoint)} refused this API key${said}. It was not saved.`, again)) === again ? 'again' : 'cancel';
    }
    // The server knows the key but has no list of models, as some gateways.
    if (failure.reason === 'unknown_model' || failure.status === 404 || failure.status === 405 || failure.status === 501) return 'save';
    const anyway = 'Save Anyway';
    return (await window.showWarningMessage(`The API key could not be checked: ${hostOf(endpoint)} could not be asked${said}.`, anyway)) === anyway ? 'save' : 'cancel';
  }
}

function hostOf({ origin }: Endpoint): string {
  return URL.canParse(origin) ? new URL(origin).host : origin;
}
