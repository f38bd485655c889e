import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { opencodeModel } from '../../../../src/node/transfer/handover/opencodeModel';
import { prepareHandover } from '../../../../src/node/transfer/handover/handOver';
import { handoverProgram } from '../../../../src/core/transfer/handover/handoverPrograms';
import { storedSession } from '../../../support/agents/handedSessions';
import { openTestStore, tempFolder, type TempFolder } from '../../../support/store/storeTemp';

describe('the model that opencode goes on with', () => {
  let temp: TempFolder;
  let work: string;

  beforeEach(() => {
    temp = tempFolder();
    work = join(temp.path, 'work', 'tide');
    mkdirSync(work, { recursive: true });
  });
  afterEach(() => temp.remove());

  const machine = (env: Record<string, string> = {}) => ({ home: temp.path, platform: 'linux' as const, env, folders: [] });
  const put = (path: string, text: string) => {
    const file = join(temp.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const model = (name: string) => JSON.stringify({ model: name });

  it('is that of its settings, of the nearest first, and else the one that was chosen last', async () => {
    const found = async (env: Record<string, string> = {}) => {
      const one = await opencodeModel(machine(env), work);
      return one && `${one.providerID} ${one.modelID}`;
    };
    assert.equal(await found(), null);
    put('.local/state/opencode/model.json', JSON.stringify({ recent: [{ providerID: 'openai', modelID: 'gpt' }] }));
    assert.equal(await found(), 'openai gpt');
    put('.config/opencode/config.json', model('local/qwen'));
    assert.equal(await found(), 'local qwen');
    put('.config/opencode/opencode.jsonc', '{\n  // mine\n  "model": "openrouter/meta/llama", // its own strokes\n}\n');
    assert.equal(await found(), 'openrouter meta/llama');
    const named = put('named.json', model('named/one'));
    assert.equal(await found({ OPENCODE_CONFIG: named }), 'named one');
    put('work/opencode.json', model('above/one'));
    assert.equal(await found({ OPENCODE_CONFIG: named }), 'above one');
    put('work/tide/opencode.json', model('near/one'));
    assert.equal(await found({ OPENCODE_CONFIG: named }), 'near one');
    assert.equal(await found({ OPENCODE_CONFIG_CONTENT: model('told/one') }), 'told one');
  });

  it('passes over settings that say nothing of it, or that cannot be read', async () => {
    put('work/tide/opencode.json', '{ "model": ');
    put('work/tide/opencode.jsonc', '{ "model": 7, "theme": "dark" }');
    put('work/opencode.json', model('no-stroke'));
    put('.config/opencode/opencode.json', model('global/one'));
    assert.deepEqual(await opencodeModel(machine(), work), { providerID: 'global', modelID: 'one' });
  });

  it('stands in every message of what is handed over', async () => {
    put('work/tide/opencode.json', model('near/one'));
    const store = await openTestStore(join(temp.path, 'store'));
    try {
      const session = await storedSession(
        store,
        [
          { type: 'message', role: 'user', text: 'Which tide?' },
          { type: 'message', role: 'assistant', text: 'Ebb.' },
        ],
        work,
      );
      const options = { store, machine: machine(), now: 1_763_900_000_000, folder: work, exportFolder: temp.path };
      const { files } = await prepareHandover(session, handoverProgram('opencode')!, options);
      const { messages } = JSON.parse(files[0]!.text) as {
        messages: { info: { model?: object; providerID?: string; modelID?: string } }[];
      };
      assert.deepEqual(
        messages.map(({ info: { model: one, providerID, modelID } }) => one ?? { providerID, modelID }),
        [
          { providerID: 'near', modelID: 'one' },
          { providerID: 'near', modelID: 'one' },
        ],
      );
    } finally {
      await store.close();
    }
  });
});
