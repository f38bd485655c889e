export type Json = Readonly<Record<string, unknown>>;

/** Foreign records are read field by field: whatever has another shape than expected counts as not there, and is kept raw. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Reports and names of kinds use it: what is neither a word nor a number is called by what it is. `String` would call a foreign `toString`. */
export function wordOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'list' : 'object';
  return String(value).slice(0, mostOfWord);
}

/** A kind is counted, shown and stored with every record of it. */
const mostOfWord = 200;

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** ISO text, or milliseconds, or (where it can be nothing else) seconds since the epoch; null for what is no time. */
export function timeOf(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.round(value < 1e11 ? value * 1000 : value);
  if (typeof value !== 'string' || value === '') return null;
  // SQLite writes it so, in UTC.
  if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(value)) return timeOf(`${value.replace(' ', 'T')}Z`);
  const at = /^\d+(?:\.\d+)?$/.test(value) ? timeOf(Number(value)) : Date.parse(value);
  return at === null || Number.isNaN(at) ? null : at;
}

/** The fields that are not among the known ones; undefined when there are none. */
export function otherFields(record: Json, known: ReadonlySet<string>): Json | undefined {
  const rest = Object.entries(record).filter(([name, value]) => !known.has(name) && value !== undefined && value !== null);
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** A text, or the texts of a list of blocks. */
export function joinedText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block: unknown) =>
      typeof block === 'string' ? [block] : isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
    )
    .join('\n');
}
