import { stat } from 'node:fs/promises';
import type { IdSource, SessionStore } from '../../../core/ports';
import { isUserMessage, type StoredEntry } from '../../../core/session/entry';
import { isForOpenClaw, openClawRecord, recordIdFor } from '../../../core/transfer/openClawRecord';
import type { OpenClawTree } from '../../../core/transfer/openClawTree';
import { recordOfSource } from '../../../core/transfer/sourceId';
import { appendLines } from './appendLines';
import type { FileTail } from './fileTail';
import { lockTranscript } from './openClawLock';

export type ReplyOutcome =
  | { readonly type: 'nothing' }
  | { readonly type: 'appended'; readonly messages: number }
  /** It lasts a moment; the next attempt finds it as it was. */
  | { readonly type: 'later' }
  | { readonly type: 'waiting'; readonly why: 'answering' | 'locked' | 'growing'; readonly messages: number }
  /** OpenClaw has gone on without these messages: they stay here, on a branch of their own. */
  | { readonly type: 'parted'; readonly messages: number };

/** An unanswered question that is older has been given up: OpenClaw holds a session for so long at most. */
const answeredWithinMs = 5 * 60 * 1000;
const chunk = 32;

/**
 * Appends to OpenClaw's transcript what was said here since it was there last. What that is, is read from the transcript and from the
 * branch the session stands on, not remembered: after a failure, a crash or a change of mind the next attempt finds the same.
 *
 * Only what goes on where OpenClaw stands is appended, and only in turns that have their answer. While OpenClaw answers, nothing is:
 * it gives up a turn when its file has changed meanwhile.
 */
export class OpenClawReplies {
  constructor(
    private readonly options: {
      readonly store: SessionStore;
      readonly ids: IdSource;
      readonly now: () => number;
      readonly format: string;
      readonly sessionId: string;
      /** UUID of the session here. */
      readonly session: string;
      readonly tree: OpenClawTree;
      /** Has been read to its end. */
      readonly tail: FileTail;
    },
  ) {}

  /** Rejects as the file system and the store say. What has been written all the same is found in the transcript by the next attempt. */
  async send(): Promise<ReplyOutcome> {
    const { store, ids, session, tree, tail, now } = this.options;
    const leaf = (await store.session(session))?.leaf ?? null;
    const { from, entries } = await this.pending();
    if (entries.length === 0) return { type: 'nothing' };
    const messages = entries.length;
    const place = from === null ? { type: 'parted' as const } : tree.continuation(from);
    if (place.type === 'parted') return { type: 'parted', messages };
    if (place.unanswered && now() - (await stat(tail.file)).mtimeMs < answeredWithinMs)
      return { type: 'waiting', why: 'answering', messages };
    const claim = ids.next();
    const claimed = await store.claim(session, claim);
    if (!claimed.granted) return { type: 'later' };
    try {
      if (claimed.leaf !== leaf) return { type: 'later' };
      const lock = await lockTranscript(tail.file);
      if (!lock) return { type: 'waiting', why: 'locked', messages };
      try {
        const lines = await this.lines(entries, place.parent);
        return (await appendLines(tail.file, lines, tail.position))
          ? { type: 'appended', messages }
          : { type: 'waiting', why: 'growing', messages };
      } finally {
        await lock.release();
      }
    } finally {
      await store.release(session, claim);
    }
  }

  /** The last record that the branch shares with the transcript, and what was said since; without a last question that has no answer. */
  private async pending(): Promise<{ readonly from: string | null; readonly entries: readonly StoredEntry[] }> {
    const { store, session } = this.options;
    const steps = (await store.branchSteps(session)).map(({ entry }) => entry).reverse();
    const entries: StoredEntry[] = [];
    for (let at = 0; at < steps.length; at += chunk) {
      const uuids = steps.slice(at, at + chunk);
      const stored = new Map((await store.entries(uuids)).map((entry) => [entry.uuid, entry]));
      for (const uuid of uuids) {
        const entry = stored.get(uuid);
        const record = entry && this.recordOf(entry);
        if (record !== undefined) return { from: record, entries: entries.reverse() };
        if (entry && isForOpenClaw(entry) && !(isUserMessage(entry) && entries.length === 0)) entries.push(entry);
      }
    }
    return { from: null, entries: entries.reverse() };
  }

  private recordOf({ uuid, sourceId }: StoredEntry): string | undefined {
    const { tree, format, sessionId } = this.options;
    const id = tree.idOf(uuid) ?? recordOfSource(format, sessionId, sourceId);
    return id !== undefined && tree.has(id) ? id : undefined;
  }

  private async lines(entries: readonly StoredEntry[], parent: string | null): Promise<string[]> {
    const { store, session, tree } = this.options;
    const usage = new Map(
      (await store.usageRecords(session)).filter(({ kind }) => kind === 'turn').map((record) => [record.entry, record]),
    );
    const taken = new Set<string>();
    let parentId = parent;
    return entries.map((entry) => {
      const id = recordIdFor(entry.uuid, (one) => tree.has(one) || taken.has(one));
      taken.add(id);
      const line = openClawRecord(entry, { id, parentId }, usage.get(entry.uuid));
      parentId = id;
      return line;
    });
  }
}
