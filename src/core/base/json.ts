export type Json = Readonly<Record<string, unknown>>;

/** Whether a value of JSON is an object: neither a list nor null. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
