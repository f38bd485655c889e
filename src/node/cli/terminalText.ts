/** History may hold control sequences of a terminal; line ends and tabs stay. */
export function plainText(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ' ');
}

/** The text is for a terminal, whose control sequences history may hold. */
export function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ').trim();
}
