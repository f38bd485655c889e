import { translationsName, writeTranslations, type Translations } from './l10n';

export interface ChatViewParts {
  /** `webview.cspSource`. */
  readonly cspSource: string;
  /** It has at least 128 random bits from a cryptographic source, and is new for every document. */
  readonly nonce: string;
  readonly scriptUri: string;
  readonly styleUri: string;
  readonly title: string;
  readonly translations: Translations;
  /** This element shows everything. */
  readonly element: 'tk-app' | 'tk-panel';
  /** Where the page stands, for a host that has several: kept with what the page remembers. */
  readonly place?: string | undefined;
}

/**
 * The document of the Chat view and of the panels. The tests load the very same, so that the policy they run under is the one that ships.
 */
export function chatViewHtml(parts: ChatViewParts): string {
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${parts.nonce}'`,
    `style-src ${parts.cspSource}`,
    `font-src ${parts.cspSource}`,
    `img-src ${parts.cspSource} data:`,
    // `default-src` does not speak for these two.
    `form-action 'none'`,
    `base-uri 'none'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${attribute(parts.translations.language)}">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<meta name="${translationsName}" content="${attribute(writeTranslations(parts.translations))}">
<link rel="stylesheet" href="${attribute(parts.styleUri)}">
<title>${attribute(parts.title)}</title>
</head>
<body${parts.place === undefined ? '' : ` data-place="${attribute(parts.place)}"`}>
<${parts.element}></${parts.element}>
<script nonce="${attribute(parts.nonce)}" src="${attribute(parts.scriptUri)}"></script>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
