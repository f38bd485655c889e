import { parseArgs } from 'node:util';
import { MessagesApi } from './messagesApi';

/**
 * The Messages API double as a program, for trying things by hand:
 *   node dist/test/support/messagesApi/messagesApiMain.js --port 8787 [--window claude-sonnet-5-5=20000]… [--key K] [--pace 20]
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8787' },
      window: { type: 'string', multiple: true, default: [] },
      key: { type: 'string', default: 'sk-ant-double-0123456789' },
      pace: { type: 'string', default: '20' },
    },
  });
  const api = await MessagesApi.start({ port: Number(values.port), apiKey: values.key, paceMs: Number(values.pace) });
  for (const pair of values.window) {
    const [model, window] = pair.split('=');
    if (!model || !(Number(window) > 0)) throw new Error(`--window takes model=tokens, not "${pair}"`);
    api.setModel(model, { window: Number(window) });
  }
  console.log(`${api.url} (key: ${api.apiKey})`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
