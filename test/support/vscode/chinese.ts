import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTranslations } from '../../../src/core/l10n';
import { projectRoot } from '../paths';

/** The texts of the program in Chinese, by the English ones. */
export const chineseTexts = JSON.parse(readFileSync(join(projectRoot, 'l10n/bundle.l10n.zh-cn.json'), 'utf8')) as Record<string, string>;

/** The tests of a suite in Chinese, those after it in English. */
export function useChinese(): void {
  before(() => useTranslations({ language: 'zh-cn', texts: chineseTexts }));
  after(() => useTranslations({ language: 'en', texts: {} }));
}
