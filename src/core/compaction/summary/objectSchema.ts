/** JSON Schema in the part that every provider knows. */
export type ObjectSchema = Readonly<Record<string, unknown>>;

/** An object of lists of lines and one text, all of them there and nothing else, as strict modes demand it. Models write in its order. */
export function objectSchema(lists: readonly string[], text: string, textFirst = false): ObjectSchema {
  const lines = lists.map((name) => [name, { type: 'array', items: { type: 'string' } }] as const);
  const words = [text, { type: 'string' }] as const;
  const properties = Object.fromEntries(textFirst ? [words, ...lines] : [...lines, words]);
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
