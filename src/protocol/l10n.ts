import * as z from 'zod/mini';
import type { Translations } from '../core/l10n';

export { listed, t, textLocale, useTranslations, wholeNumber, type Translations } from '../core/l10n';

/** The element in a page's head that holds its texts has this name. */
export const translationsName = 'threadkeeper-translations';

const Texts = z.record(z.string(), z.string());

/** The content of that element. */
export function writeTranslations({ texts }: Translations): string {
  return JSON.stringify(texts);
}

export function readTranslations(language: string, content: string): Translations {
  return { language, texts: Texts.parse(JSON.parse(content)) };
}
