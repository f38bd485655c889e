/** A value as somebody types it: `7` is a number, `true` a boolean, everything else text. */
export function metadataScalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Reads as `metadataScalar` does, but takes lists, objects and text in quotes as JSON: `"7"` is text. */
export function metadataValue(text: string): unknown {
  if (!/^[[{"]/.test(text)) return metadataScalar(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
