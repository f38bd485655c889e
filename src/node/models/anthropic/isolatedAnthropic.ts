import { Anthropic, type ClientOptions } from '@anthropic-ai/sdk';
import { anthropicBaseURL } from './anthropicBaseURL';
import { type Fetch, sameOriginFetch } from '../sameOriginFetch';

export interface AnthropicEndpoint {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fetch?: Fetch;
}

/**
 * The SDK's client without its surroundings: no environment, no credential files, no retries, no output on the console.
 *
 * Explicit options are not enough: `ANTHROPIC_CUSTOM_HEADERS` is merged in whatever the options say and can replace the key (SDK
 * 1.12). All of that happens inside the constructor, which is synchronous, so its variables are out of sight just for that call.
 */
export function isolatedAnthropic({ apiKey, baseURL, fetch: ownFetch }: AnthropicEndpoint): Anthropic {
  const options: ClientOptions = {
    apiKey,
    baseURL,
    webhookKey: null,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
    fetch: sameOriginFetch('threadkeeper.anthropic.baseUrl', ownFetch),
    defaultHeaders: { 'User-Agent': 'Threadkeeper', ...keyHeader(apiKey, baseURL) },
  };
  return withoutVariables(/^ANTHROPIC_/i, () => new Anthropic(options));
}

/** The SDK sends the key as a bearer token, as the API has it since version 2026-10-21. Gateways older than that look here. */
function keyHeader(apiKey: string, baseURL: string): Record<string, string> {
  return new URL(baseURL).host === new URL(anthropicBaseURL).host ? {} : { 'X-Api-Key': apiKey };
}

function withoutVariables<T>(hidden: RegExp, make: () => T): T {
  const kept = Object.entries(process.env).filter(([name]) => hidden.test(name));
  for (const [name] of kept) delete process.env[name];
  try {
    return make();
  } finally {
    for (const [name, value] of kept) process.env[name] = value;
  }
}
