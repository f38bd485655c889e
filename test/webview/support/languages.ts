import { chineseTexts } from '../../support/vscode/chinese';

/** There are texts of them. `long`: English with words that are longer by two fifths, as those of German, Finnish or Russian are. */
export type Language = 'en' | 'zh-cn' | 'long';

/** For dates, and for what reads the page aloud. */
export function tagOf(language: Language): string {
  return language === 'long' ? 'de' : language;
}

/** By the English ones. */
export function textsOf(language: Language): Readonly<Record<string, string>> {
  switch (language) {
    case 'en':
      return {};
    case 'zh-cn':
      return chineseTexts;
    case 'long':
      return Object.fromEntries(Object.keys(chineseTexts).map((text) => [text, longer(text)]));
  }
}

export function isLanguage(name: string): name is Language {
  return name === 'en' || name === 'zh-cn' || name === 'long';
}

/** Placeholders and code stay as they are. */
function longer(text: string): string {
  return text.replace(/\{\w+\}|`[^`]+`|\p{L}+/gu, (word) =>
    /^\p{L}{3,}$/u.test(word) ? word + word.slice(1, 1 + Math.ceil(word.length * 0.4)) : word,
  );
}
