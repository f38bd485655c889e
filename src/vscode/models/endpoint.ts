import { anthropicBaseURL } from '../../node/models/anthropic/anthropicBaseURL';

/** Where requests go. A key belongs to an origin: it is never sent to another one. */
export interface Endpoint {
  readonly provider: 'anthropic' | 'openai-compatible';
  /** As the setting has it; empty: the provider's own address. */
  readonly baseUrl: string;
  readonly origin: string;
}

/** Expects an address that `readSettings` has accepted. */
export function endpointOf(baseUrl: string, provider: Endpoint['provider'] = 'anthropic'): Endpoint {
  const address = baseUrl.trim() || (provider === 'anthropic' ? anthropicBaseURL : '');
  return { provider, baseUrl: baseUrl.trim(), origin: URL.canParse(address) ? new URL(address).origin : address };
}
