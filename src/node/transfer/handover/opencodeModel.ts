import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isObject } from '../../../core/base/json';
import type { OpencodeModel } from '../../../core/transfer/handover/handoverFile';
import { parseForeign } from '../../../core/transfer/formats/foreignJson';
import { jsonText } from '../../mcp/connect/jsonSettings';
import type { Machine } from '../watch/places';

/**
 * The model that opencode would take for a new session in this folder: the one of its settings, else the one that its user has chosen
 * last; null where neither is known. A session goes on with the model that it names. Never rejects.
 */
export async function opencodeModel({ home, env }: Machine, cwd: string): Promise<OpencodeModel | null> {
  const config = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode');
  const inFolder = (folder: string) => ['opencode.jsonc', 'opencode.json'].map((name) => join(folder, name));
  const files = [...upwards(cwd).flatMap(inFolder), env['OPENCODE_CONFIG'] ?? '', ...inFolder(config), join(config, 'config.json')];
  const texts = [() => env['OPENCODE_CONFIG_CONTENT'] ?? '', ...files.map((file) => () => textOf(file))];
  for (const read of texts) {
    const model = modelIn(await read());
    if (model) return model;
  }
  const state = env['XDG_STATE_HOME'] || join(home, '.local', 'state');
  const noted = parseForeign(await textOf(join(state, 'opencode', 'model.json')))?.value;
  const recent: unknown = isObject(noted) && Array.isArray(noted['recent']) ? noted['recent'][0] : undefined;
  if (!isObject(recent)) return null;
  const { providerID, modelID } = recent;
  return typeof providerID === 'string' && typeof modelID === 'string' ? { providerID, modelID } : null;
}

/** The folder and all above it: settings of the nearest go before. */
function upwards(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

/** `anthropic/claude-sonnet-4-5`; a model's own name may have more such strokes. */
function modelIn(settings: string): OpencodeModel | null {
  try {
    const [, providerID, modelID] = /^([^/]+)\/(.+)$/.exec(jsonText(settings, 'model') ?? '') ?? [];
    return providerID !== undefined && modelID !== undefined ? { providerID, modelID } : null;
  } catch {
    return null;
  }
}

function textOf(file: string): Promise<string> {
  return file === '' ? Promise.resolve('') : readFile(file, 'utf8').catch(() => '');
}
