/**
 * Leaves out the characters at the end that `edge` (one character, no flags) takes. `replace(/x+$/, '')` would do the same, but is
 * quadratic: it begins anew at every x.
 */
export function trimmedEnd(text: string, edge: RegExp): string {
  let end = text.length;
  while (end > 0 && edge.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/**
 * What nobody can see, or what makes a text look like another one: control and format characters (the direction of text, zero width,
 * tags), line and paragraph separators, blanks other than the usual one, fillers, halves of characters, and what is not assigned.
 */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/**
 * A text of which every character can be seen: `⟦U+202E⟧` stands for one that cannot. For whatever shows what is going to happen, so that
 * it says neither more nor less than what does. `lines` keeps line feeds and tabs, for text that is shown in lines; a name has none.
 */
export function visibleText(text: string, layout: 'line' | 'lines' = 'line'): string {
  return text.replace(unseen, (character) =>
    layout === 'lines' && (character === '\n' || character === '\t')
      ? character
      : `⟦U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
}
