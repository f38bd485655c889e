import { beginningOfFile, wholeCharacters } from '../context/projection/excerpt';
import * as z from 'zod/mini';
import { ToolFault, toolInput, type Tool } from '../tools/tool';

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
function skillMessage({ name, path }: Skill, text: string): string {
  return `${name} (${path})\n\n${beginningOfFile(text.trim(), mostCharacters)}`;
}

function shortened(description: string): string {
  return description.length <= mostDescription ? description : `${wholeCharacters(description, 0, mostDescription)}…`;
}

const input = z.object({ name: z.string() });

/**
 * Lets the model read a skill. Its text is no result but a message of its own behind the results of the step: old results are masked,
 * and what a result says is data, not instructions.
 */
export function createSkillTool(skills: readonly Skill[]): Tool {
  return {
    name: skillToolName,
    description:
      'Read one of the skills that the standing instructions list: instructions for a kind of task. They are put into the conversation behind the result of the call.',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string', description: 'As it is listed.' } },
      required: ['name'],
      additionalProperties: false,
    },
    access: 'read',
    async run(value, _signal, run) {
      const { name } = toolInput(input, value);
      const skill = skills.find((one) => one.name === name);
      if (!skill) throw new ToolFault(`There is no skill called "${name}". Available: ${skills.map((one) => one.name).join(', ')}.`);
      const text = await skill.text();
      if (text === undefined || text.trim() === '')
        throw new ToolFault(`The skill "${name}" cannot be read: ${skill.path} is gone, or empty.`);
      run?.tell({ customType: skillType, text: skillMessage(skill, text) });
      return { text: `The skill "${name}" stands in the conversation, as a block of kind "${skillType}".`, status: 'ok' };
    },
  };
}
