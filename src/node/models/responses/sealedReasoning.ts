import type { ModelBlock } from '../../../core/models/modelRequest';

/** Tells what the Responses API has sealed from the signatures of other providers: neither takes the other's. */
const prefix = 'responses:';

/** The signature under which a reasoning item is kept. */
export function sealed(encryptedContent: string): string {
  return `${prefix}${encryptedContent}`;
}

/** What the API has sealed; undefined for thinking from elsewhere. */
export function sealedContent({ signature }: Extract<ModelBlock, { type: 'thinking' }>): string | undefined {
  return signature?.startsWith(prefix) ? signature.slice(prefix.length) : undefined;
}
