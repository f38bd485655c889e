/*
 * What KaTeX writes and browsers have dropped since (MathML Core): letters of another style are characters of their own there, and the
 * columns of a table are aligned by style sheets.
 */

/** Where the capital and small letters, Greek letters and digits of a style begin; a style without some has the plain ones. */
const styles: Readonly<Record<string, { readonly latin?: number; readonly greek?: number; readonly digits?: number }>> = {
  bold: { latin: 0x1d400, greek: 0x1d6a8, digits: 0x1d7ce },
  italic: { latin: 0x1d434, greek: 0x1d6e2 },
  'bold-italic': { latin: 0x1d468, greek: 0x1d71c, digits: 0x1d7ce },
  script: { latin: 0x1d49c },
  'bold-script': { latin: 0x1d4d0 },
  fraktur: { latin: 0x1d504 },
  'bold-fraktur': { latin: 0x1d56c },
  'double-struck': { latin: 0x1d538, digits: 0x1d7d8 },
  'sans-serif': { latin: 0x1d5a0, digits: 0x1d7e2 },
  'bold-sans-serif': { latin: 0x1d5d4, greek: 0x1d756, digits: 0x1d7ec },
  'sans-serif-italic': { latin: 0x1d608 },
  'sans-serif-bold-italic': { latin: 0x1d63c, greek: 0x1d790 },
  monospace: { latin: 0x1d670, digits: 0x1d7f6 },
};

/** Letters that Unicode had before it had the rest of their style. */
const elsewhere: Readonly<Record<string, string>> = {
  '\u{1d455}': 'ℎ',
  '\u{1d49d}': 'ℬ',
  '\u{1d4a0}': 'ℰ',
  '\u{1d4a1}': 'ℱ',
  '\u{1d4a3}': 'ℋ',
  '\u{1d4a4}': 'ℐ',
  '\u{1d4a7}': 'ℒ',
  '\u{1d4a8}': 'ℳ',
  '\u{1d4ad}': 'ℛ',
  '\u{1d4ba}': 'ℯ',
  '\u{1d4bc}': 'ℊ',
  '\u{1d4c4}': 'ℴ',
  '\u{1d506}': 'ℭ',
  '\u{1d50b}': 'ℌ',
  '\u{1d50c}': 'ℑ',
  '\u{1d515}': 'ℜ',
  '\u{1d51d}': 'ℨ',
  '\u{1d53a}': 'ℂ',
  '\u{1d53f}': 'ℍ',
  '\u{1d545}': 'ℕ',
  '\u{1d547}': 'ℙ',
  '\u{1d548}': 'ℚ',
  '\u{1d549}': 'ℝ',
  '\u{1d551}': 'ℤ',
};

function inStyle(text: string, style: string): string {
  const { latin, greek, digits } = styles[style] ?? {};
  return [...text]
    .map((letter) => {
      const code = letter.codePointAt(0)!;
      let at: number | undefined;
      if (latin !== undefined && /[A-Z]/.test(letter)) at = latin + code - 0x41;
      else if (latin !== undefined && /[a-z]/.test(letter)) at = latin + 26 + code - 0x61;
      else if (digits !== undefined && /[0-9]/.test(letter)) at = digits + code - 0x30;
      else if (greek !== undefined && /[Α-Ρ]|[Σ-Ω]/.test(letter)) at = greek + code - 0x391;
      else if (greek !== undefined && /[α-ω]/.test(letter)) at = greek + 26 + code - 0x3b1;
      const styled = at === undefined ? letter : String.fromCodePoint(at);
      return elsewhere[styled] ?? styled;
    })
    .join('');
}

/** Rewrites what a library has made for older browsers. */
export function useVariants(root: ParentNode): void {
  for (const element of root.querySelectorAll('[mathvariant]')) {
    const style = element.getAttribute('mathvariant') ?? '';
    if (style === 'normal' && element.localName === 'mi') continue;
    element.removeAttribute('mathvariant');
    if (element.children.length > 0) continue;
    const styled = inStyle(element.textContent, style);
    // A single letter would be made italic once more.
    if (styled !== element.textContent && element.localName === 'mi') element.setAttribute('mathvariant', 'normal');
    element.textContent = styled;
  }
  for (const table of root.querySelectorAll('mtable')) {
    const columns = (table.getAttribute('columnalign') ?? '').split(' ');
    if (table.getAttribute('columnspacing')?.startsWith('0em')) table.classList.add('math-tight');
    for (const row of table.children)
      [...row.children].forEach((cell, at) => {
        const align = columns[Math.min(at, columns.length - 1)];
        if (align === 'left' || align === 'right') cell.classList.add(`math-${align}`);
      });
  }
  for (const box of root.querySelectorAll('menclose'))
    box.classList.add(box.getAttribute('notation') === 'box' ? 'math-box' : 'math-strike');
}
