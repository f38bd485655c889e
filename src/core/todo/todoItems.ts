import * as z from 'zod/mini';

export const TodoState = z.enum(['pending', 'in_progress', 'done']);
export type TodoState = z.infer<typeof TodoState>;

const TodoItem = z.object({ text: z.string(), status: TodoState });
type TodoItem = z.infer<typeof TodoItem>;

export const TodoList = z.array(TodoItem);
export type TodoList = z.infer<typeof TodoList>;
