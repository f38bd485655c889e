import { visibleText } from '../../../core/base/text';
import { t } from '../../../core/l10n';
import { recallToolName } from '../../../core/recall/history';
import type { ContentOf } from '../../../core/session/entry';
import { skillToolName } from '../../../core/skills/skill';
import { asideToolName } from '../../../core/aside/asideText';
import { doneCount, todosOfInput, todoToolName } from '../../../core/todo/todoList';
import { createFileName, editFileName } from '../../../core/tools/files/callChange';

/** A longer command or query is cut; the row has all of it when it is opened. */
const mostCharacters = 120;

/** What a call of the program's own tools does or has done, in words; null for other tools, which are called by their names. */
export function toolTitle({ name, input }: Pick<ContentOf<'tool_call'>, 'name' | 'input'>, isDone: boolean): string | null {
  const given = (typeof input === 'object' && input !== null ? input : {}) as Readonly<Record<string, unknown>>;
  const value = (key: string) => {
    const found = given[key];
    if (typeof found !== 'string' || found.trim() === '') return null;
    const line = visibleText(found.trim().replace(/\s+/g, ' '));
    return line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line;
  };
  const path = value('path');
  switch (name) {
    case editFileName:
      return path === null ? null : isDone ? t('Edited {0}', path) : t('Edit {0}', path);
    case createFileName:
      return path === null ? null : isDone ? t('Wrote {0}', path) : t('Write {0}', path);
    case 'read_file':
      return path === null ? null : t('Read {0}', path);
    case 'list_folder':
      return path === null || path === '.' ? t('Listed the workspace') : t('Listed {0}', path);
    case 'find_files':
      return value('pattern') === null ? null : t('Looked for files {0}', value('pattern')!);
    case 'search_text':
      return value('text') === null ? null : t('Searched for “{0}”', value('text')!);
    case 'diagnostics':
      return path === null ? t('Looked at the problems') : t('Looked at the problems of {0}', path);
    case 'run_command':
      return value('command') === null ? null : isDone ? t('Ran {0}', value('command')!) : t('Run {0}', value('command')!);
    case recallToolName:
      return value('query') === null ? t('Looked up the history') : t('Looked up “{0}” in the history', value('query')!);
    case skillToolName:
      return value('name') === null ? null : t('Read the skill {0}', value('name')!);
    case asideToolName:
      return value('question') === null
        ? null
        : isDone
          ? t('Looked into: {0}', value('question')!)
          : t('Look into: {0}', value('question')!);
    case todoToolName: {
      const list = todosOfInput(input);
      if (list === null) return null;
      return list.length === 0 ? t('Removed the to-do list') : t('To-do list: {0} of {1} done', doneCount(list), list.length);
    }
    case 'memory':
      return noteTitle(value, isDone);
    default:
      return null;
  }
}

/** A call of the memory tool; a note is called by its path below the root that models know. */
function noteTitle(value: (key: string) => string | null, isDone: boolean): string | null {
  const note = (value('path') ?? value('old_path') ?? '').replace(/^\/memories\/?/, '');
  const command = value('command');
  if (command === 'view') return note === '' ? t('Read the notes') : t('Read the note {0}', note);
  if (note === '') return null;
  switch (command) {
    case 'create':
      return isDone ? t('Wrote the note {0}', note) : t('Write the note {0}', note);
    case 'str_replace':
    case 'insert':
      return isDone ? t('Edited the note {0}', note) : t('Edit the note {0}', note);
    case 'delete':
      return isDone ? t('Deleted the note {0}', note) : t('Delete the note {0}', note);
    case 'rename':
      return isDone ? t('Renamed the note {0}', note) : t('Rename the note {0}', note);
    default:
      return null;
  }
}
