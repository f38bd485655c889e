import * as z from 'zod/mini';
import { t } from '../../l10n';
import { assertAsked, locate, readQuestion, type Located } from '../guard/located';
import { looksSecret } from '../guard/secretFiles';
import { toolInput, type Tool } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';
import { placeName } from '../guard/workspacePath';

const Input = z.object({ path: z.optional(z.string()) });
const mostShown = 100;
const order = ['error', 'warning', 'information', 'hint'] as const;

export function createDiagnosticsTool(workspace: ToolWorkspace, problems: NonNullable<ToolWorkspace['problems']>): Tool {
  const locatedOf = async (value: unknown) => {
    const { path } = toolInput(Input, value);
    return path === undefined ? null : await locate(workspace, path);
  };
  const question = (located: Located | null) => readQuestion(t('Read the problems of {0}', located?.shown ?? t('the workspace')), located);
  return {
    name: 'diagnostics',
    description:
      'Errors and warnings that the editor’s language tools report for a file, or for the workspace as far as its files are open or checked.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Only of this file.' } },
      additionalProperties: false,
    },
    access: 'read',
    needsApproval: async (value) => question(await locatedOf(value)),
    async run(value, _signal, run) {
      const located = await locatedOf(value);
      assertAsked(question(located), run?.approved);
      const place = located?.place ?? null;
      const all = problems(place)
        .filter((problem) => place !== null || !looksSecret(problem.place.path))
        .sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
      if (all.length === 0) return { text: 'No problems are reported.', status: 'ok' };
      const lines = all
        .slice(0, mostShown)
        .map((problem) => `${placeName(problem.place, workspace.folders)}:${problem.line}: ${problem.severity}: ${oneLine(problem.text)}`);
      return { text: [...lines, ...(all.length > mostShown ? [`[${all.length - mostShown} more.]`] : [])].join('\n'), status: 'ok' };
    },
  };
}

function oneLine(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}
