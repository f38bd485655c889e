import * as z from 'zod/mini';

const id = z.optional(z.union([z.string(), z.number()]));
const pinKind = z.enum(['entry', 'file', 'text']);

/** One line of standard input of `run`. */
export const RunCommand = z.discriminatedUnion('cmd', [
  z.strictObject({ cmd: z.literal('send'), id, text: z.string() }),
  z.strictObject({ cmd: z.literal('compact'), id, instructions: z.optional(z.string()) }),
  z.strictObject({ cmd: z.literal('undo_compaction'), id }),
  z.strictObject({ cmd: z.literal('preview'), id, instructions: z.optional(z.string()) }),
  z.strictObject({ cmd: z.literal('summary'), id }),
  z.strictObject({ cmd: z.literal('edit_summary'), id, text: z.string() }),
  z.strictObject({ cmd: z.literal('resummarize'), id, instructions: z.optional(z.string()) }),
  z.strictObject({ cmd: z.literal('checkpoint'), id }),
  z.strictObject({ cmd: z.literal('pin'), id, kind: pinKind, target: z.string() }),
  z.strictObject({ cmd: z.literal('unpin'), id, kind: pinKind, target: z.string() }),
  z.strictObject({ cmd: z.literal('pins'), id }),
  z.strictObject({ cmd: z.literal('stop'), id }),
]);
export type RunCommand = z.infer<typeof RunCommand>;

/** Parses a line; the error names what is wrong with it, and has the id of the line where there is one. */
export function parseRunCommand(
  line: string,
): { readonly command: RunCommand } | { readonly error: string; readonly id?: string | number | undefined } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { error: `Not a JSON line: ${line.slice(0, 80)}` };
  }
  const parsed = RunCommand.safeParse(value);
  if (parsed.success) return { command: parsed.data };
  const cmd = (value as { cmd?: unknown } | null)?.cmd;
  const named = id.safeParse((value as { id?: unknown } | null)?.id).data;
  const known: readonly string[] = [
    'send',
    'compact',
    'undo_compaction',
    'preview',
    'summary',
    'edit_summary',
    'resummarize',
    'checkpoint',
    'pin',
    'unpin',
    'pins',
    'stop',
  ];
  if (typeof cmd !== 'string' || !known.includes(cmd))
    return { id: named, error: `Unknown cmd ${JSON.stringify(cmd)}. Known: ${known.join(', ')}.` };
  return {
    id: named,
    error: `Bad "${cmd}": ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'line'}: ${issue.message}`).join('; ')}`,
  };
}
