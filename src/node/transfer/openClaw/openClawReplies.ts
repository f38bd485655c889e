import { stat, open, readFile, rm, type FileHandle } from 'node:fs/promises';
import type { IdSource, SessionStore } from '../../../core/ports';
import { isUserMessage, type StoredEntry } from '../../../core/session/entry';
import { isForOpenClaw, openClawRecord, recordIdFor, type OpenClawTree } from '../../../core/transfer/openClawRecord';
import { recordOfSource } from '../../../core/transfer/sourceRecord';
import { identityOf, type FileTail } from '../foreign/fileTail';
import { constants } from 'node:fs';
import { english } from '../../../core/l10n';

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

/** After which OpenClaw takes a lock to be left over, whoever holds it. */
const abandonedAfterMs = 30 * 60 * 1000;

/**
 * OpenClaw's own lock on a session's file: a file beside it, made by whoever writes. Null: somebody else has it; nobody is waited for, as
 * OpenClaw gives up on a lock after ten seconds. Whether its holder is alive is not looked into: it may be in a container, where the
 * number of its process is another one. Rejects as the file system says.
 */
async function lockTranscript(file: string): Promise<{ release(): Promise<void> } | null> {
  const path = `${file}.lock`;
  const content = JSON.stringify({ pid: process.pid, createdAt: new Date().toISOString() }, null, 2);
  try {
    await make(path, content);
  } catch (error) {
    if (!isThere(error)) throw error;
    const found = await stat(path).catch(() => null);
    if (found && Date.now() - found.mtimeMs <= abandonedAfterMs) return null;
    // The next attempt makes a new one, unless somebody is quicker.
    await rm(path, { force: true });
    return null;
  }
  return {
    release: async () => {
      if ((await readFile(path, 'utf8').catch(() => '')) === content) await rm(path, { force: true });
    },
  };
}

async function make(path: string, content: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

function isThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

/**
 * Appends in one write behind what is known of the file, and makes it durable. False: the file has grown or is another one, and nothing
 * was written. Rejects as the file system says. Of a line that did not fit nothing stays: part of one would spoil the next. Lines that are
 * there, but could not be made durable, stay: whoever looks again finds them.
 */
export async function appendLines(
  file: string,
  lines: readonly string[],
  { identity, offset }: { readonly identity: string | null; readonly offset: number },
): Promise<boolean> {
  // The file is not made when it is not there: a transcript without its header would be none.
  const handle = await open(file, constants.O_WRONLY | constants.O_APPEND);
  try {
    const found = await handle.stat();
    if (identityOf(found) !== identity || found.size !== offset) return false;
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) {
      if ((await handle.stat()).size === offset + bytesWritten) await takeBack(file, handle, offset);
      throw new Error(english('Only {0} of {1} bytes could be written; is the disk full?', bytesWritten, bytes.length));
    }
    await handle.datasync();
    return true;
  } finally {
    await handle.close();
  }
}

/** It goes by a handle and not by the name, under which the other program may have put another file meanwhile. */
async function takeBack(file: string, appending: FileHandle, size: number): Promise<void> {
  if (process.platform !== 'win32') return appending.truncate(size);
  // Windows lets a handle that appends do nothing else.
  const handle = await open(file, 'r+');
  try {
    if (identityOf(await handle.stat()) === identityOf(await appending.stat())) await handle.truncate(size);
  } finally {
    await handle.close();
  }
}
