import { english } from '../../core/l10n';

/**
 * A line of an answer has at most so many characters: none of a real server has a hundredth of it, and it is held in memory until it ends.
 */
export const longestLine = 16 * 1024 * 1024;

/**
 * The lines of a stream as they end; `onPiece` hears of every piece. Each character is looked at once, however many pieces a line comes
 * in: a line that is searched from its beginning at every piece takes a server's 32 MB some 20 s. A line feed ends a line and nothing
 * else, a BOM in front is left out, and so is what is blank behind the last line. Throws for a line of more than `most` characters.
 */
export async function* linesOf(
  body: AsyncIterable<unknown> | null,
  onPiece: () => void,
  most = longestLine,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let open: string[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    onPiece();
    const [first = '', ...more] = decoder.decode(piece as Uint8Array, { stream: true }).split('\n');
    open.push(first);
    length += first.length;
    if (length > most) throw new Error(english('The answer has a line of more than {0} characters.', most));
    const last = more.pop();
    if (last === undefined) continue;
    yield open.join('');
    yield* more;
    [open, length] = [[last], last.length];
  }
  const rest = open.join('');
  if (rest.trim() !== '') yield rest;
}
