import assert from 'node:assert/strict';
import type { EntryContent } from '../../../src/core/session/entry';
import { transcriptBlock } from '../../../src/core/transfer/transcriptBlocks';
import { decodeEntry } from '../../../src/node/store/rows/entryCodec';
import { Transcript } from '../../../src/vscode/chat/transcript/transcript';
import { BranchBuilder } from '../../support/chat/branchBuilder';

/** As a version wrote it that this one does not know. */
const newer = { type: 'bookmark', text: 'Slack water' } as unknown as EntryContent;

describe('an entry of a kind that only a newer version knows', () => {
  const b = new BranchBuilder();
  b.user('before');
  const entry = { ...b.add(newer), modelFacing: false };
  b.user('behind');
  const entries = b.entries.map((one) => (one.uuid === entry.uuid ? entry : one));

  it('has a row that says so, on a page and when another window appends it', () => {
    const row = {
      kind: 'info',
      id: entry.uuid,
      at: entry.createdAt,
      text: 'A newer version of Threadkeeper wrote this. Update to read it.',
    };
    const transcript = new Transcript(
      { entries, excerpted: new Set() },
      (id) => id,
      () => undefined,
    );
    transcript.load({ entries, hasMore: false, forks: [], beyondLeaf: [] });
    assert.deepEqual(
      transcript.rows().map(({ kind, id }) => [kind, id]),
      entries.map(({ uuid, content }) => [content === newer ? 'info' : 'user', uuid]),
    );
    assert.deepEqual(transcript.append(entry).added, row);
  });

  it('keeps its text when it is read, and is exported with it', () => {
    const row = {
      ...{ seq: 1, uuid: 'u', session: 's', parent: null, entry_type: 'bookmark', token_estimate: null, model_facing: 0, display: 1 },
      ...{
        source_id: null,
        created_at: 5,
        content_json: '{"type":"bookmark"}',
        text: 'Slack water',
        blob_hash: null,
        tool_args_json: null,
      },
    };
    const read = decodeEntry(row, { read: () => undefined });
    assert.deepEqual(read.content, newer);
    assert.deepEqual(transcriptBlock(read), {
      kind: 'note',
      heading: 'bookmark',
      at: 5,
      parts: [{ format: 'verbatim', text: JSON.stringify(newer, null, 2) }],
      attachments: [],
      folded: true,
    });
  });
});
