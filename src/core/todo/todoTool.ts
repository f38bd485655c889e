import { toolInput, type Tool } from '../tools/tool';
import { doneCount, mostTodoCharacters, mostTodos, TodoInput, todoToolName } from './todoList';

const description =
  'Keep the list of what is to be done, for work of three steps or more. Each call gives the whole list, which replaces the one before; an empty one removes it. ' +
  'Set an item to in_progress before you begin with it, and to done as soon as it is done. The user sees the list, and it stays word for word when earlier messages are folded.';

/** The list is the input of the newest call: the tool itself keeps nothing. */
export function createTodoTool(): Tool {
  return {
    name: todoToolName,
    description,
    inputSchema: {
      type: 'object',
      properties: {
        todos: {
          type: 'array',
          maxItems: mostTodos,
          items: {
            type: 'object',
            properties: {
              text: { type: 'string', maxLength: mostTodoCharacters, description: 'One line.' },
              status: { type: 'string', enum: ['pending', 'in_progress', 'done'] },
            },
            required: ['text', 'status'],
            additionalProperties: false,
          },
        },
      },
      required: ['todos'],
      additionalProperties: false,
    },
    access: 'notes',
    async run(value) {
      const { todos } = toolInput(TodoInput, value);
      return { text: todos.length === 0 ? 'The list is gone.' : `${doneCount(todos)} of ${todos.length} done.`, status: 'ok' };
    },
  };
}
