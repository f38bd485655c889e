import { open } from 'node:fs/promises';
import { exportFormat } from '../../core/transfer/exportDocument';
import { isObject, type Json } from '../../core/transfer/formats/jsonShape';
import { lineFormats, parseLine, type LineFormatName } from './readJsonLines';

export const importFormats = ['threadkeeper', 'claude-code', 'pi', 'openclaw', 'goose', 'librecode', 'cline', 'roo', 'continue'] as const;
export type ImportFormat = (typeof importFormats)[number];

export function isLineFormat(format: ImportFormat): format is LineFormatName {
  return format in lineFormats;
}

/** Enough for the header and the first records of every format; a first line may be longer and is then judged by how it begins. */
const headBytes = 256 * 1024;
const claudeTypes = new Set(['user', 'assistant', 'system', 'summary', 'file-history-snapshot', 'queue-operation', 'custom-title', 'ai-title', 'last-prompt', 'attachment', 'progress', 'mode']);
const piTypes = new Set(['session', 'message', 'compaction', 'branch_summary', 'model_change', 'thinking_level_change', 'custom', 'custom_message', 'label', 'session_info', 'leaf', 'reset']);
/** What it notes before the first answer; its files are otherwise those of pi. */
const ofOpenClaw = /"customType":\s*"(?:model-snapshot|openclaw[.:])/;

/** By content, not by name; null for what is none of them. Rejects when the file cannot be read. */
export async function detectFormat(file: string): Promise<ImportFormat | null> {
  const head = await readHead(file);
  // Which of the databases it is, its tables say.
  if (isSqlite(head)) return 'goose';
  const text = head.toString('utf8').replace(/^\ufeff/, '').trimStart();
  if (/^\{\s*"format"\s*:\s*"([^"]*)"/.exec(text)?.[1] === exportFormat) return 'threadkeeper';
  for (const line of text.split('\n').slice(0, 50)) {
    const value = parseLine(line)?.value;
    const format = isObject(value) ? ofRecord(value, file) : null;
    if (format === 'pi' && ofOpenClaw.test(text)) return 'openclaw';
    if (format) return format;
  }
  if (text.startsWith('[') && /^\[\s*\{[^]*?"role"\s*:/.test(text.slice(0, 4096))) return /"(?:condenseParent|truncationParent|isSummary|condenseId)"/.test(text) || /roo/i.test(file) ? 'roo' : 'cline';
  // Cline 3; its lists of messages from before are those above.
  if (/^\{\s*"version":\s*1,\s*"updated_at":/.test(text) && /"agent":[^]*"origin":[^]*"messages":\s*\[/.test(text.slice(0, 4096))) return 'cline';
  if (text.startsWith('{') && /"history"\s*:\s*\[/.test(text) && /"sessionId"\s*:/.test(text)) return 'continue';
  return null;
}

/** Whatever the format is called: OpenClaw has both. */
export async function isDatabase(file: string): Promise<boolean> {
  return isSqlite(await readHead(file));
}

function isSqlite(head: Buffer): boolean {
  return head.subarray(0, 15).toString('latin1') === 'SQLite format 3';
}

function ofRecord(value: Json, file: string): ImportFormat | null {
  const type = String(value['type'] ?? '');
  if (Array.isArray(value['history']) && typeof value['sessionId'] === 'string') return 'continue';
  if (typeof value['sessionId'] === 'string' && claudeTypes.has(type)) return 'claude-code';
  if (claudeTypes.has(type) && (typeof value['uuid'] === 'string' || typeof value['leafUuid'] === 'string' || type.endsWith('-title'))) return 'claude-code';
  if (!piTypes.has(type)) return null;
  return /[\\/]\.(?:openclaw|clawdbot|moltbot)[\\/]/.test(file) || type === 'leaf' || type === 'reset' ? 'openclaw' : 'pi';
}

async function readHead(file: string): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
