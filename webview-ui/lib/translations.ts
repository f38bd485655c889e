import { readTranslations, translationsName, useTranslations } from '../../src/protocol/l10n';

/** Takes the texts that came with the page. Before anything is drawn. */
export function usePageTranslations(): void {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="${translationsName}"]`)?.content;
  if (content) useTranslations(readTranslations(document.documentElement.lang, content));
}
