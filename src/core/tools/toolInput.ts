import * as z from 'zod/mini';
import { ToolFault } from './tool';

/** The input of a call as its schema has it. Throws `ToolFault`, which says what is wrong with it. */
export function toolInput<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ToolFault(`The input is not valid: ${z.prettifyError(parsed.error)}`);
}
