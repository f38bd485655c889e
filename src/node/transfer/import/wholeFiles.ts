import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isObject, type Json } from '../../../core/base/json';
import { english } from '../../../core/l10n';
import { pathOfUri } from '../../../core/transfer/fileUri';
import { aiderEvents } from '../../../core/transfer/formats/aider';
import { sessionJsonEvents } from '../../../core/transfer/formats/chatCompletion';
import { clineEvents, taskEvents } from '../../../core/transfer/formats/clineSession';
import { continueEvents } from '../../../core/transfer/formats/continueSession';
import { parseForeign, parseForeignOrThrow, tooDeep } from '../../../core/transfer/formats/foreignJson';
import { geminiEvents } from '../../../core/transfer/formats/gemini';
import { vscodeChatEvents } from '../../../core/transfer/formats/vscodeChat';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import { recordHash } from './sessionWriter';

/** V8's strings end at 512 MB. */
const mostJsonBytes = 500 * 1024 * 1024;

type Reader = (file: string) => Promise<SourceEvent[]>;

/** Formats of which a file is read as a whole: what it says can stand anywhere in it. Each rejects with words. */
export const wholeFormats = {
  continue: (file) => objectEvents(file, continueEvents),
  'session-json': (file) => objectEvents(file, sessionJsonEvents),
  cline: taskOrSession,
  roo: taskOrSession,
  gemini: async (file) => geminiEvents(await readText(file), { cwd: await projectRoot(file), fallbackId: nameOf(file) }, hashOf),
  'vscode-chat': async (file) => {
    const events = vscodeChatEvents(await readText(file), { cwd: await workspaceFolder(file), fallbackId: nameOf(file) }, hashOf);
    if (!events) throw new Error(english('There is no state in it: the program has left the log without one.'));
    return events;
  },
  aider: async (file) => {
    const cwd = dirname(file);
    return aiderEvents(await readText(file), cwd, recordHash(cwd), hashOf);
  },
} satisfies Readonly<Record<string, Reader>>;
export type WholeFormat = keyof typeof wholeFormats;

async function taskOrSession(file: string): Promise<SourceEvent[]> {
  const { value, cut } = parseForeignOrThrow(await readText(file));
  const events = Array.isArray(value)
    ? taskEvents(basename(dirname(file)), value, hashOf)
    : clineEvents(object(value), await manifestOf(file), nameOf(file).replace(/\.messages$/, ''), hashOf);
  return withCut(events, cut);
}

function hashOf(value: unknown): string {
  return recordHash(JSON.stringify(value) ?? '');
}

function nameOf(file: string): string {
  return basename(file).replace(/\.jsonl?$/, '');
}

/** The events of a file that is one JSON object. */
async function objectEvents(file: string, eventsOf: typeof continueEvents): Promise<SourceEvent[]> {
  const { value, cut } = parseForeignOrThrow(await readText(file));
  return withCut(eventsOf(object(value), nameOf(file), hashOf), cut);
}

/** Said of the session, which the first event begins. */
function withCut(events: readonly SourceEvent[], cut: number): SourceEvent[] {
  return [...events, ...Array.from({ length: cut }, () => ({ type: 'repaired', kind: tooDeep() }) as const)];
}

function object(value: unknown): Json {
  if (!isObject(value)) throw new Error(english('The file is no session.'));
  return value;
}

/** Cline 3 has one; a file that was moved has none. */
async function manifestOf(file: string): Promise<Json> {
  return file.endsWith('.messages.json') ? jsonOf(file.replace(/\.messages\.json$/, '.json')) : {};
}

/** Gemini CLI names the project in a file beside its chats. */
async function projectRoot(file: string): Promise<string | null> {
  for (const folder of [dirname(dirname(file)), dirname(dirname(dirname(file)))]) {
    const text = await readSmall(join(folder, '.project_root'));
    if (text.trim() !== '') return text.trim();
  }
  return null;
}

/** VS Code names the folder of a workspace beside what it keeps for it. */
async function workspaceFolder(file: string): Promise<string | null> {
  const { folder } = await jsonOf(join(dirname(dirname(file)), 'workspace.json'));
  return typeof folder === 'string' ? pathOfUri(folder) : null;
}

async function jsonOf(file: string): Promise<Json> {
  const value = parseForeign(await readSmall(file))?.value;
  return isObject(value) ? value : {};
}

/** A note beside a session. Empty where there is none, or where it is no note. */
async function readSmall(file: string): Promise<string> {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile() || found.size > 1024 * 1024) return '';
  return readFile(file, 'utf8').catch(() => '');
}

/** A whole file, for formats that are one value. */
export async function readText(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > mostJsonBytes)
    throw new Error(
      english(
        'The file has {0} MB; up to {1} MB of JSON can be read at once. Export fewer sessions into one file, or move the whole history with a backup.',
        Math.round(size / 2 ** 20),
        mostJsonBytes / 2 ** 20,
      ),
    );
  return (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
}
