import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../../core/base/json';
import type { OpencodeModel } from '../../../core/transfer/handover/handoverFile';
import { parseForeign } from '../../../core/transfer/formats/foreignJson';
import type { Machine } from '../watch/places';

/** The model that the user of opencode has chosen last; null where it is not known. Never rejects. */
export async function opencodeModel({ home, env }: Machine): Promise<OpencodeModel | null> {
  const state = env['XDG_STATE_HOME'] || join(home, '.local', 'state');
  const noted = parseForeign(await readFile(join(state, 'opencode', 'model.json'), 'utf8').catch(() => ''))?.value;
  const recent: unknown = isObject(noted) && Array.isArray(noted['recent']) ? noted['recent'][0] : undefined;
  if (!isObject(recent)) return null;
  const { providerID, modelID } = recent;
  return typeof providerID === 'string' && typeof modelID === 'string' ? { providerID, modelID } : null;
}
