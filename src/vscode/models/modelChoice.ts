import { isProviderId, type ProviderId } from '../../core/models/providers';
import { offlineModelId } from '../../node/runtime/modelBindings';

/** Which model is wanted: by the session, the setting, or nobody. */
export type WantedModel =
  | { readonly provider: 'automatic' }
  | { readonly provider: 'offline' }
  | { readonly provider: ProviderId; readonly model: string };

export interface ModelWishes {
  /** `provider/model` of the session; null: whatever the settings say. */
  readonly session: string | null;
  /** The setting: a model id of Anthropic's, `provider/model`, `offline` or nothing. */
  readonly setting: string;
  /** The user has chosen to go on without a key. */
  readonly offlineChosen: boolean;
}

/** The session's own choice first; then offline mode if the user chose it; then the setting. */
export function wantedModel({ session, setting, offlineChosen }: ModelWishes): WantedModel {
  const own = parseModel(session ?? '');
  if (own.provider !== 'automatic') return own;
  return offlineChosen ? { provider: 'offline' } : parseModel(setting);
}

export const offlineSessionModel = `offline/${offlineModelId}`;

/** Ids may contain slashes themselves: only a provider's name in front of the first one is one. */
function parseModel(text: string): WantedModel {
  const name = text.trim();
  if (name === '') return { provider: 'automatic' };
  if (name === offlineModelId || name.startsWith('offline/')) return { provider: 'offline' };
  const [provider = '', ...rest] = name.split('/');
  return isProviderId(provider) ? { provider, model: rest.join('/') } : { provider: 'anthropic', model: name };
}
