import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportFormats, exportSessions } from '../../../src/node/transfer/export/exportSessions';
import { ModelSummarizer } from '../../../src/node/models/modelSummarizer';
import { logLine } from '../../../src/vscode/log';
import { ConversationRig } from '../../support/chat/conversationRig';
import { errorEvent, httpFault, reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { anthropicSubject, lmSubject, ollamaSubject, openaiSubject, type Wired } from './subjects';

/** Looks like no key at all: only who was given it can know. */
const plainKey = 'harbourmaster9817quay';
const issued = [
  'ghp_0123456789abcdefghijABCDEFGHIJ456789',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ0aWRlIn0.c2lnbmF0dXJlLW9mLXRpZGU',
  'sk-ant-api03-TideTideTideTide0123',
  'AKIATIDE0123456789AB',
  'quay-bearer-3141592653',
  'quay-login-2718',
];
/** What providers, gateways and proxies have been seen to quote in an error. */
const quoted = (key: string) =>
  `${issued.slice(0, 4).join(' ')} Bearer ${issued[4]!} https://ada:${issued[5]!}@proxy.example/ key ${key}, x-api-key: ${key}`;
/** In what the user says: only an export with redaction takes it out. */
const told = ['lantern-pass-77', 'xoxb-0123456789-lighthouse'];
const marker = 'the lamp of the lighthouse is white';

describe('a secret', () => {
  for (const subject of [anthropicSubject, openaiSubject, ollamaSubject, lmSubject]) {
    // Without a key there is none to hide; and nobody tells us that of VS Code's models.
    const key = subject === anthropicSubject || subject === openaiSubject ? plainKey : issued[0]!;

    it(`is in no event, log, error text, database or export after a session with ${subject.name}`, async () => {
      const wired: Wired = await subject.start(undefined, plainKey);
      const rig = await ConversationRig.create({
        binding: async () => {
          const binding = await wired.bind();
          return {
            ...binding,
            summarizer: new ModelSummarizer({ client: binding.client, model: binding.info.id, contextTokens: binding.info.window }),
          };
        },
      });
      try {
        wired.enqueue(httpFault(400, 'invalid_request_error', `no good: ${quoted(key)}`));
        const { error } = await rig.conversation.send(`password = ${told[0]!}, and slack has ${told[1]!}; ${marker}`, 'm1');
        assert.match(error?.detail ?? '', /no good/);
        wired.enqueue(
          reply('Half', errorEvent('api_error', quoted(key))),
          reply('Let me see.', toolCall('echo', { text: 'hi' })),
          reply('Seen.'),
        );
        assert.equal((await rig.conversation.send('and now?', 'm2')).ok, true);
        for (let i = 0; i < 4; i++) {
          wired.enqueue(reply(rig.words(600)));
          await rig.conversation.send(rig.words(300), `n${i}`);
        }
        wired.enqueue(httpFault(400, 'invalid_request_error', quoted(key)), httpFault(400, 'invalid_request_error', quoted(key)));
        const { entry } = await rig.conversation.compact();
        assert.equal(entry?.content.rung, 'extractive');
        const sessions = [(await rig.store.session(rig.session))!];
        const exported = async (redact: boolean) => {
          const texts: string[] = [];
          for (const format of exportFormats)
            for await (const piece of exportSessions(rig.store, sessions, format, { redact })) texts.push(piece);
          return texts.join('');
        };
        const [whole, redacted] = [await exported(false), await exported(true)];
        const events = JSON.stringify(rig.events);
        const log = [...rig.logged, ...(wired.logged as typeof rig.logged)].map(({ event, data }) => logLine(event, data)).join('\n');
        assert.match(log, /model_request_failed/);
        await rig.store.close();
        const files = await readdir(rig.folder, { recursive: true, withFileTypes: true });
        const database = (
          await Promise.all(files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'latin1')))
        ).join('\n');
        // What was said is found there in clear: a secret would be, too.
        for (const [where, text] of Object.entries({ whole, redacted, events, database })) assert.ok(text.includes(marker), where);
        for (const [where, text] of Object.entries({ whole, redacted, events, log, database })) {
          for (const secret of [plainKey, ...issued])
            assert.equal(
              text.includes(secret),
              false,
              `${secret} in ${where}: ${text.slice(Math.max(0, text.indexOf(secret) - 120), text.indexOf(secret) + 80)}`,
            );
        }
        for (const secret of told) assert.deepEqual([whole.includes(secret), redacted.includes(secret)], [true, false], secret);
        await rig.reopen();
      } finally {
        await rig.dispose();
        await wired.close();
      }
    });
  }
});
