import * as z from 'zod/mini';
import { oneLine } from '../frames/frames';
import type { ContentOf, StoredEntry } from '../session/entry';
import { isUserMessage } from '../session/entry';
import { liveCompaction } from '../session/liveCompaction';
import { TodoList, TodoState } from './todoItems';

export const todoToolName = 'update_todos';
/** With them a list takes at most some 2,000 tokens of every prompt behind a compaction. */
export const mostTodos = 40;
export const mostTodoCharacters = 200;

const Input = z.object({
  todos: z
    .array(z.object({ text: z.string().check(z.minLength(1), z.maxLength(mostTodoCharacters)), status: TodoState }))
    .check(z.maxLength(mostTodos)),
});

/** What a call has to be given. */
export const TodoInput = Input;

/** The list that a call gives; null where its input is none. */
export function todosOfInput(input: unknown): TodoList | null {
  const parsed = Input.safeParse(input);
  return parsed.success ? parsed.data.todos.map(({ text, status }) => ({ text: oneLine(text).trim(), status })) : null;
}

/**
 * The model's list as it stands on a branch: what the newest call gave that went well, else what the live compaction carries of the
 * folded ones. Nothing else is kept of it, so that an undo, another branch and a restored conversation have the list of their time.
 */
export function todoListOf(entries: readonly StoredEntry[]): TodoList {
  return standing(entries).list;
}

/** The list as users are shown it: one that is all done goes with the next message. */
export function shownTodos(entries: readonly StoredEntry[]): TodoList {
  const { list, at } = standing(entries);
  const isOver = list.every(({ status }) => status === 'done') && entries.slice(at + 1).some(isUserMessage);
  return isOver ? [] : list;
}

function standing(entries: readonly StoredEntry[]): { readonly list: TodoList; readonly at: number } {
  for (let at = entries.length - 1; at >= 0; at--) {
    const { content } = entries[at]!;
    if (content.type !== 'tool_result' || content.name !== todoToolName || content.status !== 'ok') continue;
    const list = todosOfInput(callOf(entries, at, content.callId)?.input);
    if (list) return { list, at };
  }
  const summary = liveCompaction(entries)?.content.summary;
  const carried = TodoList.safeParse(typeof summary === 'object' && summary !== null && 'todos' in summary ? summary.todos : null);
  return { list: carried.success ? carried.data : [], at: -1 };
}

function callOf(entries: readonly StoredEntry[], before: number, callId: string): ContentOf<'tool_call'> | null {
  for (let at = before - 1; at >= 0; at--) {
    const { content } = entries[at]!;
    if (content.type === 'tool_call' && content.callId === callId) return content;
  }
  return null;
}

const boxes: Readonly<Record<TodoState, string>> = { pending: '[ ]', in_progress: '[>]', done: '[x]' };

/** One line for each item, as the model is sent them behind a compaction. */
export function todoLines(list: TodoList): string[] {
  return list.map(({ text, status }) => `- ${boxes[status]} ${text}`);
}

/** Above the list in a prompt. */
export const todoHeading = '## To-do list (word for word; [>] is in progress; a later call of update_todos replaces it)';

/** Empty when there is no list. */
export function renderTodos(list: TodoList): string {
  if (list.length === 0) return '';
  return [todoHeading, ...todoLines(list)].join('\n');
}

export function doneCount(list: TodoList): number {
  return list.filter(({ status }) => status === 'done').length;
}
