import { lineFormats, type LineFormatName } from '../foreign/readJsonLines';
import type { DatabaseFormat } from '../foreign/readSqlite';
import { wholeFormats, type WholeFormat } from './wholeFiles';

/** Each is named here and read by one of the tables: the compiler asks for the other one. */
type Readable = 'threadkeeper' | LineFormatName | WholeFormat | DatabaseFormat;

export const importFormats = [
  'threadkeeper',
  'claude-code',
  'codex',
  'copilot-cli',
  'vscode-chat',
  'gemini',
  'qwen',
  'opencode',
  'kilo',
  'cursor',
  'zed',
  'aider',
  'pi',
  'openclaw',
  'goose',
  'librecode',
  'cline',
  'roo',
  'continue',
  'goclaw',
  'emonk',
  'session-json',
] as const satisfies readonly Readable[];
export type ImportFormat = (typeof importFormats)[number];

export function isLineFormat(format: ImportFormat): format is LineFormatName {
  return format in lineFormats;
}

export function isWholeFormat(format: ImportFormat): format is WholeFormat {
  return format in wholeFormats;
}
