import * as z from 'zod/mini';
import { isObject } from '../base/json';
import { UsageRow } from '../cost/usageRow';
import { EntryContent } from '../session/entry';
import { redactText, redactValue } from '../redaction/redactText';
import { requestIn } from '../session/carriedRequest';

export const exportFormat = 'threadkeeper-export';
/** Begins a file in which an export is sealed (node/transfer/export/sealedBundle.ts). */
export const sealedFormat = 'threadkeeper-sealed';
/** Counts up when a program that knows only the older ones could misread a document. */
export const exportVersion = 1;

const entry = z.object({
  /** Its number in the store that it comes from; summaries cite entries by it, as `#12`. */
  seq: z.number(),
  uuid: z.string(),
  /** UUID of the entry that it follows, in this document; null for a root. */
  parent: z.nullable(z.string()),
  createdAt: z.number(),
  modelFacing: z.boolean(),
  display: z.boolean(),
  tokenEstimate: z.nullable(z.number()),
  sourceId: z.optional(z.nullable(z.string())),
  content: EntryContent,
});

const session = z.object({
  uuid: z.string(),
  id: z.string(),
  key: z.string(),
  title: z.string(),
  cwd: z.nullable(z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  lastOpenedAt: z.number(),
  pinnedAt: z.nullable(z.number()),
  archivedAt: z.nullable(z.number()),
  deletedAt: z.nullable(z.number()),
  parentSession: z.nullable(z.string()),
  forkEntry: z.nullable(z.string()),
  /** Where the conversation goes on. */
  leaf: z.nullable(z.string()),
  model: z.nullable(z.string()),
  thinkingLevel: z.nullable(z.string()),
  policy: z.unknown(),
  metadata: z.record(z.string(), z.unknown()),
  costLimit: z.nullable(z.number()),
});

/** One session, with every entry on every branch. Times are milliseconds since the epoch. */
export const ExportedSession = z.object({
  session,
  /** They stand in the order of `seq`. What several sessions of a document share stands in the first of them. */
  entries: z.array(entry),
  usage: z.array(UsageRow),
  pins: z.array(
    z.object({ kind: z.enum(['entry', 'file', 'text']), target: z.string(), contentHash: z.nullable(z.string()), at: z.number() }),
  ),
  /** What the entries did to the model's notes, oldest first. The notes themselves are files of their own. */
  memoryWrites: z.array(z.object({ entry: z.string(), path: z.string(), op: z.string(), bytes: z.number(), at: z.number() })),
  /** Compactions whose summary is to be made again. */
  retries: z.array(z.object({ compaction: z.string(), nextAt: z.number(), attempts: z.number() })),
});
export type ExportedSession = z.infer<typeof ExportedSession>;
export type ExportedEntry = ExportedSession['entries'][number];

/** What *Export Session* writes as JSON and *Import Sessions* reads back without loss; published as media/export.schema.json. */
export const ExportDocument = z.object({
  format: z.literal(exportFormat),
  version: z.number(),
  /** Secrets and home folders have been taken out; such a document is not what was said, word for word. */
  redacted: z.boolean(),
  sessions: z.array(ExportedSession),
  /** Attachments and, where they are exported too, contents of files; named by the sha256 of their bytes; `data` is base64. */
  blobs: z.array(z.object({ hash: z.string(), mime: z.string(), data: z.string() })),
});
export type ExportDocument = z.infer<typeof ExportDocument>;

/** Its texts go through the rules of redactText.ts. Attachments cannot be read for secrets: they stay behind. */
export function redactEntry(entry: ExportedEntry): ExportedEntry {
  return { ...entry, content: redactContent(entry.content) };
}

export function redactRecord(session: ExportedSession['session']): ExportedSession['session'] {
  const { title, cwd, metadata, policy } = session;
  return {
    ...session,
    title: redactText(title),
    cwd: cwd && redactText(cwd),
    metadata: redactValue(metadata),
    policy: redactValue(policy),
  };
}

export function redactContent(content: EntryContent): EntryContent {
  const redacted = withoutBytes(redactValue(content)) as EntryContent;
  if (redacted.type === 'thinking') {
    // A signature proves a text that is not there any more, and what is sealed cannot be read for secrets.
    const { signature: _signature, redactedData: _sealed, ...rest } = redacted;
    return rest;
  }
  if (redacted.type === 'message' || redacted.type === 'tool_result') {
    const { attachments: _attachments, ...rest } = redacted;
    return rest;
  }
  const request = redacted.type === 'compaction' ? requestIn(redacted.summary) : undefined;
  if (redacted.type !== 'compaction' || !request) return redacted;
  return { ...redacted, summary: { ...(redacted.summary as object), request: { ref: request.ref, text: request.text } } };
}

/** Base64 of more than a few lines, in one line or broken into several: no word, path or key is as long. */
const bytes = /^[A-Za-z0-9+/_\r\n-]{256,}={0,2}$/;
const dataUrl = /data:[\w.+-]{1,60}\/[\w.+-]{1,80}(?:;[\w=.+-]{1,60}){0,4};base64,[A-Za-z0-9+/_=-]+/g;
const mediaTypes = ['media_type', 'mediaType', 'mimeType', 'mime_type'];
const attached = '[attachment]';

/** Pictures and documents within what was kept as it came, or was given to a call: they cannot be read for secrets, either. */
function withoutBytes(value: unknown): unknown {
  if (typeof value === 'string') return bytes.test(value.trimEnd()) ? attached : value.replace(dataUrl, attached);
  if (Array.isArray(value)) return value.map(withoutBytes);
  if (!isObject(value)) return value;
  const isFile = mediaTypes.some((name) => typeof value[name] === 'string');
  const holdsBytes = (name: string, one: unknown) => isFile && (name === 'data' || name === 'blob') && typeof one === 'string';
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [name, holdsBytes(name, one) ? attached : withoutBytes(one)]),
  );
}
