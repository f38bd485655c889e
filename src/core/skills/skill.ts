import { beginningOfFile, wholeCharacters } from '../context/projection/excerpt';

/** Instructions for one kind of task, which are read when a task is of that kind. */
export interface Skill {
  readonly name: string;
  /** What it is for: by this the model chooses. */
  readonly description: string;
  /** The file, as the model and the user know it. */
  readonly path: string;
  /** The instructions as they are now; undefined when they cannot be read any more. */
  readonly text: () => Promise<string | undefined>;
}

/** `customType` of the message that a skill is put into the conversation as. */
export const skillType = 'skill';

/** A session offers so many at most: the list is a part of every request. */
export const mostSkills = 50;
/** Characters of a description in the list. */
const mostDescription = 300;
/** Characters of a skill's instructions, as of other instruction files. */
const mostCharacters = 20_000;

/** What the model is told of them in the constant part of a session; empty without any. */
export function skillList(skills: readonly Skill[]): string {
  if (skills.length === 0) return '';
  const lines = skills.map(({ name, description }) => `- ${name}: ${shortened(description)}`);
  return `Skills are instructions for particular tasks. When a task fits a description below, read that skill with the ${skillToolName} tool before you begin, and follow it:\n${lines.join('\n')}`;
}

export const skillToolName = 'use_skill';

/** The message that holds a skill. Its first line is what people see of it. */
export function skillMessage({ name, path }: Skill, text: string): string {
  return `${name} (${path})\n\n${beginningOfFile(text.trim(), mostCharacters)}`;
}

function shortened(description: string): string {
  return description.length <= mostDescription ? description : `${wholeCharacters(description, 0, mostDescription)}…`;
}
