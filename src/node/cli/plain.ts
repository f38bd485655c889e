/** For a terminal, whose control sequences history may hold. */
export function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ').trim();
}
