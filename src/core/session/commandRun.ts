import type { ContentOf, EntryContent } from './entry';

/** A command that the user has run beside the conversation (`bashExecution` of pi and librecode). */
export interface CommandRun {
  readonly command: string;
  readonly output: string;
  /** Null: it is not known, or the command was killed. */
  readonly exitCode: number | null;
  readonly cancelled?: boolean;
  readonly truncated?: boolean;
}

/** `custom_message` entries that hold one. */
const commandType = 'command';
const fence = '`\n```\n';
const ended = /\n```((?:\n\n\((?:command cancelled|output truncated)\)|\n\nCommand exited with code -?\d+)*)$/;

/** What the model reads, in pi's words. */
export function commandMessage({ command, output, exitCode, cancelled, truncated }: CommandRun): ContentOf<'custom_message'> {
  const end = cancelled ? '\n\n(command cancelled)' : exitCode === null || exitCode === 0 ? '' : `\n\nCommand exited with code ${exitCode}`;
  return {
    type: 'custom_message',
    customType: commandType,
    text: `Ran \`${command}${fence}${output === '' ? '(no output)' : output}\n\`\`\`${end}${truncated ? '\n\n(output truncated)' : ''}`,
  };
}

export function isCommandRun(content: EntryContent): boolean {
  return content.type === 'custom_message' && content.customType === commandType;
}

/** The command apart from what it printed and how it ended. */
export function readCommandRun({ text }: ContentOf<'custom_message'>): {
  readonly command: string;
  readonly output: string;
  readonly failed: boolean;
} {
  const from = text.indexOf(fence);
  // It was written so before there was a fence.
  if (!text.startsWith('Ran `') || from === -1)
    return { command: text.split('\n')[0] ?? '', output: text.slice(text.indexOf('\n') + 1), failed: false };
  const end = ended.exec(text)?.[1]?.trim() ?? '';
  const output = text.slice(from + fence.length).replace(ended, '');
  return {
    command: text.slice('Ran `'.length, from),
    output: end === '' ? output : `${output}\n\n${end}`,
    failed: /cancelled|exited/.test(end),
  };
}
