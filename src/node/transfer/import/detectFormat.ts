import { open } from 'node:fs/promises';
import { exportFormat, sealedFormat } from '../../../core/transfer/exportDocument';
import { leadingMembers } from '../../../core/transfer/formats/foreignJson';
import { readJsonLines } from '../foreign/readJsonLines';
import { sourceIdOf, type SourceRecord } from '../../../core/transfer/sourceRecord';
import type { ImportFormat } from './importFormats';
import type { ImportStore } from './importStore';

/** `empty`: there is nothing in it; null: it is none of those that are known. */
export type DetectedFormat = ImportFormat | 'empty' | null;

/**
 * The first has the header and the first records of nearly every file. A line that is longer is judged by the members that it begins with;
 * where those that tell stand behind a picture, more is read.
 */
const headBytes: readonly number[] = [256 * 1024, 16 * 1024 * 1024];
const mostLines = 50;
const claudeTypes = new Set([
  'user',
  'assistant',
  'system',
  'summary',
  'file-history-snapshot',
  'queue-operation',
  'custom-title',
  'ai-title',
  'last-prompt',
  'attachment',
  'progress',
  'mode',
]);
const piTypes = new Set([
  'session',
  'message',
  'compaction',
  'branch_summary',
  'model_change',
  'thinking_level_change',
  'custom',
  'custom_message',
  'label',
  'session_info',
  'leaf',
  'reset',
]);
const codexTypes = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted']);
/** What it notes before the first answer; its files are otherwise those of pi. */
const ofOpenClaw = /"customType":\s*"(?:model-snapshot|openclaw[.:])/;
const ofRoo = /"(?:condenseParent|truncationParent|isSummary|condenseId)"/;

/** The content decides, not the name. Rejects when the file cannot be read. */
export async function detectFormat(file: string): Promise<DetectedFormat> {
  for (const most of headBytes) {
    const head = await readHead(file, most);
    if (head.length === 0) return 'empty';
    // Its tables say which of the databases it is.
    if (isSqlite(head)) return 'goose';
    const format = ofText(
      head
        .toString('utf8')
        .replace(/^\ufeff/, '')
        .trimStart(),
      file,
    );
    if (format || head.length < most) return format;
  }
  return null;
}

/** Whatever the format is called: OpenClaw has both. */
export async function isDatabase(file: string): Promise<boolean> {
  return isSqlite(await readHead(file, 16));
}

function isSqlite(head: Buffer): boolean {
  return head.subarray(0, 15).toString('latin1') === 'SQLite format 3';
}

function ofText(text: string, file: string): DetectedFormat {
  if (text === '') return 'empty';
  if (text.startsWith('[')) {
    if (!leadingMembers(text, 1)?.has('role')) return null;
    return ofRoo.test(text) || /roo/i.test(file) ? 'roo' : 'cline';
  }
  const whole = leadingMembers(text);
  if (whole?.get('format') === exportFormat || whole?.get('format') === sealedFormat) return 'threadkeeper';
  if (/^\s*# aider chat started at /.test(text)) return 'aider';
  const ofWhole = whole && ofChat(whole);
  if (ofWhole) return ofWhole;
  for (const line of firstLines(text)) {
    const format = ofRecord(leadingMembers(line), file, text);
    if (format) return format === 'pi' && ofOpenClaw.test(text) ? 'openclaw' : format;
  }
  // Cline 3; its lists of messages from before are those above.
  if (whole?.get('version') === 1 && whole.has('updated_at') && whole.has('agent') && Array.isArray(whole.get('messages'))) return 'cline';
  if (whole && isContinue(whole)) return 'continue';
  return whole && isSessionJson(whole) ? 'session-json' : null;
}

/** Chats of VS Code and of Gemini CLI: by what the object, or the first line of a log, begins with. */
function ofChat(members: ReadonlyMap<string, unknown>): ImportFormat | null {
  if (typeof members.get('sessionId') === 'string' && typeof members.get('projectHash') === 'string') return 'gemini';
  if (members.get('kind') === 0 && members.has('v')) return 'vscode-chat';
  return Array.isArray(members.get('requests')) && (members.has('responderUsername') || members.has('sessionId') || members.has('version'))
    ? 'vscode-chat'
    : null;
}

/** One file for each session, as the session-management skill has it; of a program in Go the names may begin with capitals. */
function isSessionJson(members: ReadonlyMap<string, unknown>): boolean {
  const field = (name: string) => members.get(name) ?? members.get(`${name[0]!.toUpperCase()}${name.slice(1)}`);
  const isNull = members.get('messages') === null || members.get('Messages') === null;
  return typeof field('key') === 'string' && (Array.isArray(field('messages')) || isNull);
}

function* firstLines(text: string): Generator<string, void, void> {
  for (let [start, lines] = [0, 0]; start < text.length && lines < mostLines; lines++) {
    const end = text.indexOf('\n', start);
    yield text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length : end + 1;
  }
}

function isContinue(members: ReadonlyMap<string, unknown>): boolean {
  return Array.isArray(members.get('history')) && typeof members.get('sessionId') === 'string';
}

const ofGoogle = /"message":\s*\{\s*"role":\s*"(?:user|model)",\s*"parts":/;

function ofRecord(members: ReadonlyMap<string, unknown> | null, file: string, text: string): ImportFormat | null {
  const type = members?.get('type');
  if (!members || isContinue(members)) return members && 'continue';
  if (typeof type !== 'string') return null;
  if (codexTypes.has(type) && members.has('payload')) return 'codex';
  if (members.has('data') && members.has('parentId') && /^[a-z_]+\.[a-z_]+$/.test(type)) return 'copilot-cli';
  // Its trees are those of Claude Code, its messages those of Google.
  if (typeof members.get('uuid') === 'string' && members.has('sessionId') && ofGoogle.test(text)) return 'qwen';
  if (claudeTypes.has(type) && ['sessionId', 'uuid', 'leafUuid'].some((name) => typeof members.get(name) === 'string'))
    return 'claude-code';
  if (claudeTypes.has(type) && type.endsWith('-title')) return 'claude-code';
  if (!piTypes.has(type)) return null;
  return /[\\/]\.(?:openclaw|clawdbot|moltbot)[\\/]/.test(file) || type === 'leaf' || type === 'reset' ? 'openclaw' : 'pi';
}

async function readHead(file: string, most: number): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(Math.min(most, (await handle.stat()).size));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

const alike: readonly ImportFormat[] = ['openclaw', 'pi'];

/**
 * The format under which a transcript is stored already; its own where it is not. Before OpenClaw's first note in it, it is one of pi by
 * its content, and imported again under the other name it would be there twice.
 */
export async function knownFormat(
  file: string,
  format: ImportFormat,
  store: ImportStore,
  signal: AbortSignal | undefined,
): Promise<ImportFormat> {
  if (format !== 'openclaw' && format !== 'pi') return format;
  const first = await firstRecord(file, format, signal);
  if (!first) return format;
  const sourceId = (of: ImportFormat) => sourceIdOf(of, first.session, first.record, 0);
  const known = new Set((await store.knownSources(alike.map(sourceId))).map((one) => one.sourceId));
  return [format, ...alike].find((one) => known.has(sourceId(one))) ?? format;
}

/** Resolves with the id of its session too; null where nothing is stored of any. */
async function firstRecord(
  file: string,
  format: 'openclaw' | 'pi',
  signal: AbortSignal | undefined,
): Promise<{ readonly session: string; readonly record: SourceRecord } | null> {
  let session = '';
  for await (const event of readJsonLines(file, format, { source: file, ...(signal ? { signal } : {}) })) {
    if (event.type === 'session') session = event.session.id;
    if (event.type === 'record' && event.record.parts.length > 0) return { session, record: event.record };
  }
  return null;
}
