/** What parsers of HTML and Markdown stumble over, put in anywhere. */
const pieces = [
  '<', '>', '"', "'", '`', '/', '\\', '=', '&', ';', '#', '|', '[', ']', '(', ')', '*', '_', '~', '!', '\n', '\n\n', '\t', '\r', '\0', '\f', '\u00a0', '\u2028', '\ufeff', '\ud800',
  '<!--', '-->', '--!>', '<![CDATA[', ']]>', '<?', '?>', '</', '/>', '&lt;', '&gt;', '&quot;', '&#60;', '&#x3c', '&Tab;', '&NewLine;', '&colon;', '```', '```html\n', '~~~\n', '> ', '- ', '1. ', '| - |\n', '    ',
  '<code>', '</code>', '<kbd>', '</kbd>', '<pre>', '</pre>', '<b>', '</b>', '<a ', '</a>', '<p>', '<table>', '<td>', '</table>', '<svg>', '</svg>', '<math>', '<mtext>', '<mglyph>', '<style>', '</style>', '<title>', '</title>',
  '<noscript>', '<template>', '<select>', '<textarea>', '<form>', '<iframe ', '<xmp>', '<plaintext>', '<foreignObject>', '<desc>', '<annotation-xml encoding="text/html">',
  ' onerror=window.owned=99', ' onload=window.owned=99', ' style=position:fixed', ' src=https://example.org/f', ' href="javascript:window.owned=99"', '<img src=x onerror=window.owned=99>', '<svg/onload=window.owned=99>',
  '<script>window.owned=99</script>', 'javascript:window.owned=99', 'https://example.org/', '](javascript:window.owned=99)', '](https://example.org/x "', ']: <', '![',
];

/** A text made from others by some changes of the kinds that find faults: pieces put in, cut out, doubled, joined, nested. */
export function mutate(corpus: readonly string[], random: () => number): string {
  const below = (count: number) => Math.floor(random() * count);
  const one = <T>(all: readonly T[]): T => all[below(all.length)]!;
  let text = one(corpus);
  for (let left = 1 + below(6); left > 0; left--) {
    const from = below(text.length + 1);
    const to = Math.min(text.length, from + below(12));
    const [head, cut, tail] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
    const other = one(corpus);
    text = one([
      () => head + one(pieces) + cut + tail,
      () => head + tail,
      () => head + cut + cut + tail,
      () => head + one(pieces) + tail,
      () => head + other.slice(below(other.length)),
      () => head + other + cut + tail,
      () => `${one(pieces)}${text}${one(pieces)}`,
      () => head + (random() < 0.5 ? cut.toUpperCase() : cut.replace(/[a-z]/g, (letter) => `&#${letter.charCodeAt(0)};`)) + tail,
    ])();
  }
  return text.slice(0, 4_000);
}
