import type { ContentOf } from '../session/entry';

/** `custom` entries of an import begin with it. */
export const rawPrefix = 'import:';

/** A record that is not known, as it came: kept with the history, shown to nobody but those who look for it. */
export function unreadable(kind: string, data: unknown): ContentOf<'custom'> {
  return { type: 'custom', customType: `${rawPrefix}${kind}`, data: data ?? null };
}
