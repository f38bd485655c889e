import assert from 'node:assert/strict';
import { redactContent } from '../../../../src/core/transfer/exportDocument';
import { exportJson } from '../../../../src/node/transfer/export/exportJson';
import { compactionContent } from '../../../support/chat/compactionContent';
import { ImportRig } from '../../../support/store/importRig';

/** Random bytes as base64, as a picture has them. */
const base64 = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 7_919) % 251)).toString('base64');
const [picture, small, pdf, inText] = [base64(900), base64(60), base64(600), base64(300)];

describe('a redacted export', () => {
  let rig: ImportRig;
  beforeEach(async () => (rig = await ImportRig.open()));
  afterEach(() => rig.close());

  it('has no pictures, documents or names of home folders that other programs have put into a session', async () => {
    const base = { isSidechain: false, userType: 'external', cwd: '/home/adalovelace/w', sessionId: 'one', version: '2.1.0' };
    const line = (uuid: string, parentUuid: string | null, type: string, content: unknown) => ({
      ...base,
      uuid,
      parentUuid,
      type,
      timestamp: '2026-09-01T10:00:01.000Z',
      message: { role: type, content, ...(type === 'assistant' ? { id: 'm1', model: 'claude-test' } : {}) },
    });
    const source = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
    const { uuid } = await rig.only(
      rig.source('session.jsonl', [
        { type: 'file-history-snapshot', snapshot: { trackedFileBackups: { '/home/adalovelace/private/notes.md': { version: 1 } } } },
        line(
          'u1',
          null,
          'user',
          `Look at my bank account: data:image/png;base64,${inText} and at src/deeply/nested/folder/of/a/plain/path`,
        ),
        line('a1', 'u1', 'assistant', [{ type: 'tool_use', id: 't1', name: 'screenshot', input: { raw: picture } }]),
        line('u2', 'a1', 'user', [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'image', source: source('image/png', small) }] },
        ]),
        line('u3', 'u2', 'user', [{ type: 'document', source: source('application/pdf', pdf) }]),
      ]),
    );
    let text = '';
    for await (const part of exportJson(rig.store, [(await rig.store.session(uuid))!], { redact: true })) text += part;
    assert.deepEqual(
      [picture, small, pdf, inText, 'adalovelace'].filter((one) => text.includes(one)),
      [],
    );
    assert.ok(text.includes('src/deeply/nested/folder/of/a/plain/path'), 'what is said stays');
  });

  it('carries no attachment with the request of a compaction, whose other lines stay', () => {
    const request = { ref: '#1', text: 'Look' };
    const attachments = [{ kind: 'image', name: 'shot.png', hash: 'h', mime: 'image/png' }];
    assert.deepEqual(
      redactContent(compactionContent('op', null, { summary: { raw: 'a state', request: { ...request, attachments } } })),
      compactionContent('op', null, { summary: { raw: 'a state', request } }),
    );
  });
});
