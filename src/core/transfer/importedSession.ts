import { SessionPolicy } from '../context/policy/resolvePolicy';
import { chosenToolsKey } from '../tools/toolBox';

/** What a session brings along from elsewhere describes it. What would switch tools on or off is the user's to say. */
export function importedMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { [chosenToolsKey]: _, ...rest } = metadata;
  return rest;
}

/** Its policy without words that a model would be told, and without addresses that the conversation would be sent to. */
export function importedPolicy(policy: unknown): SessionPolicy | null {
  const parsed = SessionPolicy.safeParse(policy);
  if (!parsed.success) return null;
  const { preset, overrides } = parsed.data;
  const kept = Object.entries(overrides ?? {}).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'summarizer.chain') return [];
    return [[name, name === 'memoryFlush.thresholds' ? withoutPrompts(value) : value]];
  });
  return { ...(preset === undefined ? {} : { preset }), ...(overrides === undefined ? {} : { overrides: Object.fromEntries(kept) }) };
}

function withoutPrompts(thresholds: unknown): unknown {
  if (!Array.isArray(thresholds)) return thresholds;
  return thresholds.map((one: unknown) => {
    if (typeof one !== 'object' || one === null) return one;
    const { prompt: _, ...rest } = one as Readonly<Record<string, unknown>>;
    return rest;
  });
}
