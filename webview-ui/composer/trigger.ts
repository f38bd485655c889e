import { completesArgument, type SlashName } from '../../src/protocol/slashCommands';

export interface Trigger {
  readonly kind: 'mention' | 'slash' | 'argument';
  /** The command that an argument follows. */
  readonly command?: SlashName;
  readonly query: string;
  /** Where the text begins and ends that a choice replaces. */
  readonly start: number;
  readonly end: number;
}

/** What the text in front of the caret asks for: `@` behind a space, a slash as the very first character, or what follows such a command. */
export function triggerAt(text: string, caret: number): Trigger | null {
  // Longer words are no names that anyone types: a long paste costs nothing.
  const before = text.slice(Math.max(0, caret - 200), caret);
  const mention = /(?:^|[\s(])@([^\s@]*)$/.exec(before);
  if (mention) return { kind: 'mention', query: mention[1]!, start: caret - mention[1]!.length - 1, end: caret };
  const argument = caret <= 200 ? /^\/([a-z]+)[ \t]+(\S*)$/i.exec(before) : null;
  const command = argument?.[1]!.toLowerCase() ?? '';
  if (argument && completesArgument(command))
    return { kind: 'argument', command, query: argument[2]!, start: caret - argument[2]!.length, end: caret };
  const slash = caret <= 200 ? /^\/([a-z]*)$/i.exec(before) : null;
  return slash ? { kind: 'slash', query: slash[1]!.toLowerCase(), start: 0, end: caret } : null;
}
