import type { ModelInfo } from '../../core/models/modelInfo';

/**
 * What "automatic" means: the newest model of the Sonnet class, else the first of the list (providers list the newest first),
 * undefined for an empty list. Of equally new ones the first wins.
 */
export function chooseDefaultModel(models: readonly ModelInfo[]): ModelInfo | undefined {
  let best: { readonly model: ModelInfo; readonly version: number } | undefined;
  for (const model of models) {
    const version = sonnetVersion(model.id);
    if (version !== undefined && (best === undefined || version > best.version)) best = { model, version };
  }
  return best?.model ?? models[0];
}

/** `claude-sonnet-4-5-20250929` → 4.05, `claude-3-7-sonnet-latest` → 3.07; an eight-digit date is no minor version. */
function sonnetVersion(id: string): number | undefined {
  const match = /sonnet-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/i.exec(id) ?? /(?<!\d)(\d{1,2})(?:[-.](\d{1,2}))?-sonnet/i.exec(id);
  return match ? Number(match[1]) + Number(match[2] ?? 0) / 100 : undefined;
}

/** The smallest or the largest family that is offered, the newest of it; undefined when none is known. */
export function summaryModel(models: readonly ModelInfo[], wish: 'cheapest' | 'best'): ModelInfo | undefined {
  const families = wish === 'cheapest' ? [/haiku/, /sonnet/] : [/opus/, /sonnet/];
  // The provider lists the newest first.
  return families.map((family) => models.find(({ id }) => family.test(id))).find((model) => model !== undefined);
}
