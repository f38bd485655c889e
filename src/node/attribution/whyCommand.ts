import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { commitText, limitTexts, saidText, unknownText } from '../../core/attribution/reasonText';
import { timeText } from '../../core/recall/dateText';
import type { StoredEntry } from '../../core/session/entry';
import { whyLine, type LineEdit, type LineReason } from './whyLine';
import { programNameOf } from '../../core/transfer/programs';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../cli/flags';
import { storeFlag, withReader } from '../cli/storeFlags';
import { plain } from '../cli/terminal';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'workspace', value: 'DIR', help: 'folder from which relative paths of sessions start; the current one without it' },
  {
    name: 'json',
    help: 'one JSON object: edits (session, sessionId, program, entry, time, asked, before, answer), commit, withoutGit, isCut',
  },
];

/** Characters of what was said. */
const mostSaid = 400;

export const whyHelp = `threadkeeper why FILE:LINE: the message that asked for a line of a file, the answer, and the edit that put it there.

${flagHelp(specs)}

Edits of every session are known, of this program and of those that were imported or are followed. A committed line is led back by git blame.
Where several edits may have put it there, all are named; where none is known, that is said. The store may be in use: a copy is read.
Exit code 0 when an edit is known, 3 when none is; 2 for a command line that cannot be run, 1 when the store or the file cannot be read.`;

/** Resolves with the exit code. */
export async function why(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const named = /^(.+):(\d+)$/.exec(words[0] ?? '');
  if (!named || words.length > 1 || Number(named[2]) < 1) throw new UsageError('Name one line, as FILE:LINE; lines are counted from 1.');
  const file = resolve(named[1]!);
  const text = readFileSync(file, 'utf8');
  const line = Number(named[2]) - 1;
  const count = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  if (line >= count) throw new UsageError(`${named[1]} has ${count} lines.`);
  const reason = await withReader(flags['store']!, 'why', (store) =>
    whyLine(store, { file, text, line, folder: resolve(flags['workspace'] ?? '.') }, new AbortController().signal),
  );
  process.stdout.write(flags['json'] === undefined ? forPeople(reason) : `${JSON.stringify(toOutput(reason))}\n`);
  return reason.edits.length > 0 ? 0 : 3;
}

function forPeople({ edits, commit, withoutGit, isCut }: LineReason): string {
  const limits = limitTexts(edits.length > 0, withoutGit, isCut);
  if (edits.length === 0) return [unknownText(commit, withoutGit), ...limits].map((one) => `${plain(one)}\n`).join('');
  const head = edits.length > 1 ? ['One of these edits has put it there; which one cannot be told.'] : [];
  return [...head, ...edits.flatMap(editLines), ...(commit ? [plain(commitText(commit))] : []), ...limits]
    .map((one) => `${one}\n`)
    .join('');
}

function editLines({ edit, session, asked, before, answer }: LineEdit): string[] {
  const program = programNameOf(session);
  const said = (head: string, entry: StoredEntry | null) => {
    const text = entry ? plain(saidText(entry)).slice(0, mostSaid) : '';
    return text === '' ? [] : [`${head}: ${text}`];
  };
  return [
    `Edited ${timeText(edit.createdAt)} by ${program}, ${session.id}${session.title ? ` ${plain(session.title)}` : ''}, #${edit.seq}`,
    ...said('  You asked', asked),
    ...said('  Before the edit', before),
    ...said(`  ${program} answered`, answer),
  ];
}

function toOutput({ edits, commit, withoutGit, isCut }: LineReason): object {
  const said = (entry: StoredEntry | null) => entry && { entry: entry.uuid, text: saidText(entry) };
  return {
    edits: edits.map(({ edit, session, asked, before, answer }) => ({
      session: session.uuid,
      sessionId: session.id,
      program: programNameOf(session),
      entry: edit.uuid,
      time: new Date(edit.createdAt).toISOString(),
      asked: said(asked),
      before: said(before),
      answer: said(answer),
    })),
    commit: commit && { ...commit, at: new Date(commit.at).toISOString() },
    withoutGit,
    isCut,
  };
}
