/**
 * Stands in for a tool's input that the model wrote but nobody can read: `{ "__malformed": "<what the model wrote>" }`. A model
 * that was cut off inside a tool call leaves half a JSON text. The call is reported with it all the same, so that the tool can
 * answer with an error the model can act on; sent back, it is an object as the API demands.
 */
const malformedInputKey = '__malformed';

/** The input of a tool call from its JSON text; never throws. No text at all is an empty input. */
export function parseToolInput(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    const input: unknown = JSON.parse(json);
    return isObject(input) ? input : { [malformedInputKey]: json };
  } catch {
    return { [malformedInputKey]: json };
  }
}

/** What was written instead of a readable input, or undefined when the input is readable. */
export function malformedInput(input: unknown): string | undefined {
  const text = isObject(input) ? input[malformedInputKey] : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Any stored input as the object that the API takes. */
export function asToolInput(input: unknown): Record<string, unknown> {
  return isObject(input) ? input : { [malformedInputKey]: JSON.stringify(input) ?? '' };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
