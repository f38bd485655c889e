import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { constants, copyFile, link, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { errorText } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { IdSource, SessionStore } from '../../../core/ports';
import { requestIn } from '../../../core/session/carriedRequest';
import type { StoredEntry } from '../../../core/session/entry';
import type { Session } from '../../../core/session/session';
import { liveCompaction, verbatimEntries } from '../../../core/session/liveCompaction';
import { handedHistory, lastEntry, type HandedHistory } from '../../../core/transfer/handover/handedHistory';
import type { HandoverFile } from '../../../core/transfer/handover/handoverFile';
import { handoverPrograms, type HandoverProgram } from '../../../core/transfer/handover/handoverPrograms';
import { programOf } from '../../../core/transfer/programs';
import { entriesToTell } from '../export/entriesToTell';
import { handoverSource } from '../import/handoverLink';
import { places, type Machine } from '../watch/places';
import { geminiProject } from './geminiProject';
import { opencodeModel } from './opencodeModel';

/** What a hand-over would write, all of it, before anything is written. */
export interface Handover {
  readonly program: HandoverProgram;
  readonly name: string;
  readonly history: HandedHistory;
  /** Folder in which the program goes on. */
  readonly cwd: string;
  /** The session's own folder, where it is not on this machine and another one is taken; null: it is. */
  readonly missing: string | null;
  /** The session, and what has to stand beside it. None of them is there. */
  readonly files: readonly { readonly file: string; readonly text: string }[];
  /** Commands that go on with it, each with its arguments, in `cwd`. */
  readonly resume: readonly (readonly string[])[];
  readonly session: string;
  readonly records: HandoverFile['records'];
}

export interface HandoverOptions {
  readonly store: SessionStore;
  readonly machine: Machine;
  readonly now: number;
  /** For a session that names no folder, or one that is not there. */
  readonly folder: string;
  /** Files for a program that imports them itself go here. */
  readonly exportFolder: string;
}

/** Which programs are on this machine: their folder is there, or their command can be found. Never rejects. */
export async function handoverTargets(
  machine: Machine,
): Promise<readonly { readonly program: HandoverProgram; readonly isHere: boolean }[]> {
  return Promise.all(
    handoverPrograms.map(async (program) => ({
      program,
      isHere: (await isThere(dirname(placeOf(program, machine)))) || (await isCommand(program.command, machine)),
    })),
  );
}

/**
 * Rejects with `StoreError`, also where what is to be handed over cannot be read now, and with words where there is nothing to hand over.
 */
export async function prepareHandover(session: Session, program: HandoverProgram, options: HandoverOptions): Promise<Handover> {
  const { store, machine, now, folder, exportFolder } = options;
  const entries = await entriesToTell(store, (await store.liveBranch(session.uuid)).entries);
  const history = handedHistory(entries, { tokens: program.tokens, contents: await attachedTexts(entries, store) });
  if (history.steps.length === 0) throw new Error(english('There is nothing to hand over yet.'));
  const isFound = session.cwd === null || (await isFolder(session.cwd));
  const cwd = realPath(isFound ? (session.cwd ?? folder) : folder);
  const root = placeOf(program, machine);
  const project = program.id === 'gemini' ? await geminiProject(root, cwd) : { slug: '', hash: '', isNew: false };
  const model = program.id === 'opencode' ? await opencodeModel(machine, cwd) : null;
  const written = program.write({ history, session: randomUUID(), cwd, title: session.title, now, project, model, id: randomUUID });
  for (const path of [cwd, root, exportFolder]) refuseKeys(path);
  const file = join(program.id === 'opencode' ? exportFolder : root, ...written.path.split('/'));
  const beside = program.id === 'gemini' && project.isNew ? [{ file: join(root, project.slug, '.project_root'), text: cwd }] : [];
  return {
    program,
    name: programOf(program.id)?.name ?? program.id,
    history,
    cwd,
    missing: isFound ? null : session.cwd,
    files: [...beside, { file, text: written.text }],
    resume: program.resume(written.session, file),
    session: written.session,
    records: written.records,
  };
}

/**
 * Notes in the history what was handed over, so that what is said there comes back to this session, and writes the files: each whole or
 * not at all, and none over one that is there. Rejects with `StoreError`, or with words; then no file was written.
 *
 * The files are written under names that no program reads, then the note, and only then do they get their names. A file that has its name
 * before the note would be taken for a session of its own by a watch that finds it, or after a crash. A note without its file, which
 * only a crash between the last two steps can leave, is shown nowhere and names a session that nobody else will.
 */
export async function carryOut(handover: Handover, session: Session, store: SessionStore, ids: IdSource, now: number): Promise<void> {
  const { program, history, files, records } = handover;
  const parent = history.steps.length === 0 ? session.leaf : lastEntry(history.steps.at(-1)!);
  const written: NewFile[] = [];
  const named: string[] = [];
  try {
    for (const { file, text } of files) written.push(await writeAside(file, text));
    await store.importEntries(session.uuid, {
      entries: [
        {
          uuid: ids.next(),
          session: session.uuid,
          parent,
          createdAt: now,
          modelFacing: false,
          display: false,
          tokenEstimate: null,
          sourceId: handoverSource(program.id, handover.session),
          content: { type: 'handed_over', program: program.id, id: handover.session, records: { ...records } },
        },
      ],
    });
    for (const one of written) {
      await giveName(one);
      named.push(one.file);
    }
  } catch (error) {
    for (const file of named) await rm(file, { force: true });
    throw error;
  } finally {
    for (const { temporary } of written) await rm(temporary, { force: true });
  }
}

/**
 * As it is typed where the program is to go on; on Windows a line for each command, since its shells agree on no sign between two.
 * Throws with words where a word holds what a shell takes for a key, such as the end of a line.
 */
export function commandLine(commands: Handover['resume'], platform: NodeJS.Platform): string {
  return commands.map((words) => words.map((word) => quoted(word, platform)).join(' ')).join(platform === 'win32' ? '\n' : ' && ');
}

/**
 * What a terminal is given of the commands. It runs only where every shell takes the words as they stand: what is quoted for one may end,
 * or run, in another that the user has chosen, so it is put in front of the user, in one line.
 */
export function terminalInput(commands: Handover['resume'], platform: NodeJS.Platform): { readonly text: string; readonly runs: boolean } {
  const text = commandLine(commands, platform);
  const runs = commands.every((words) => words.every((word) => plainOnWindows.test(word)));
  return { text: runs ? text : text.replaceAll('\n', ' ; '), runs };
}

const plainWord = /^[\w@%+=:,./-]+$/;
const plainOnWindows = /^[\w:./\\=-]+$/;

/** PowerShell, the terminal of Windows, takes a dollar sign for itself between double quotes, and a curly quote for a straight one. */
function quoted(word: string, platform: NodeJS.Platform): string {
  refuseKeys(word);
  if (platform === 'win32') return plainOnWindows.test(word) ? word : `'${word.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
  return plainWord.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function refuseKeys(path: string): void {
  if (/\p{Cc}/u.test(path))
    throw new Error(english('A name with control characters cannot be handed over: {0}', path.replace(/\p{Cc}/gu, '\ufffd')));
}

interface NewFile {
  readonly file: string;
  /** It holds the text until the file has its name. */
  readonly temporary: string;
}

async function writeAside(file: string, text: string): Promise<NewFile> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    if (await isThere(file)) throw new Error(english('{0} exists already', file));
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
    return { file, temporary };
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw unwritten(file, error);
  }
}

async function giveName({ file, temporary }: NewFile): Promise<void> {
  // A rename would replace what is there. Some disks know no links.
  await link(temporary, file)
    .catch(() => copyFile(temporary, file, constants.COPYFILE_EXCL))
    .catch((error: unknown) => Promise.reject(unwritten(file, error)));
}

function unwritten(file: string, error: unknown): Error {
  return new Error(english('{0} could not be written: {1}', file, errorText(error)), { cause: error });
}

/** Texts of what is attached to the messages that are sent, and to the request that a summary carries, by hash. */
async function attachedTexts(entries: readonly StoredEntry[], store: SessionStore): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const ofMessages = verbatimEntries(entries).flatMap(({ content }) => (content.type === 'message' ? (content.attachments ?? []) : []));
  const ofRequest = requestIn(liveCompaction(entries)?.content.summary)?.attachments ?? [];
  for (const { kind, hash } of [...ofRequest, ...ofMessages]) {
    const bytes = kind === 'image' || texts.has(hash) ? undefined : await store.blob(hash, true);
    if (bytes) texts.set(hash, new TextDecoder().decode(bytes));
  }
  return texts;
}

function placeOf({ id }: HandoverProgram, machine: Machine): string {
  return places[id](machine)[0]?.root ?? machine.home;
}

/** A path that is absolute on another system only is none here. */
async function isFolder(path: string): Promise<boolean> {
  return isAbsolute(path) && (await stat(path).catch(() => null))?.isDirectory() === true;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function isCommand(command: string, { env, platform }: Machine): Promise<boolean> {
  const names = platform === 'win32' ? ['.exe', '.cmd', '.bat'].map((end) => command + end) : [command];
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) for (const name of names) if (await isThere(join(folder, name))) return true;
  return false;
}

/** Programs are told where they run by the system, which knows no links. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
