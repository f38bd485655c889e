/** What is written without one of the messages that it consists of, with empty lines between; null where the message is none of them. */
export function withoutMessage(written: string, message: string): string | null {
  const framed = `\n\n${written}\n\n`;
  const at = framed.indexOf(`\n\n${message}\n\n`);
  return message === '' || at < 0 ? null : `${framed.slice(2, at + 2)}${framed.slice(at + message.length + 4, -2)}`.replace(/\n\n$/, '');
}
