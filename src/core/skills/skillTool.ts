import * as z from 'zod/mini';
import { toolInput } from '../tools/toolInput';
import { ToolFault, type Tool } from '../tools/tool';
import { skillMessage, skillToolName, skillType, type Skill } from './skill';

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
