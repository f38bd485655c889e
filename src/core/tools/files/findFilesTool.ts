import * as z from 'zod/mini';
import { t } from '../../l10n';
import { globMatcher } from '../guard/glob';
import { assertAsked, locate, readQuestion, type Located } from '../guard/located';
import type { Tool } from '../tool';
import { toolInput } from '../toolInput';
import type { ToolWorkspace } from '../toolWorkspace';
import { searchRoots, walkFiles } from '../guard/walk';

const Input = z.object({ pattern: z.string().check(z.minLength(1), z.maxLength(500)), path: z.optional(z.string()) });
const mostFound = 200;

export function createFindFilesTool(workspace: ToolWorkspace): Tool {
  const question = (pattern: string, located: Located | null) =>
    readQuestion(located ? t('Find files called {0} in {1}', pattern, located.shown) : t('Find files called {0}', pattern), located);
  return {
    name: 'find_files',
    description: 'Find files of the workspace by name. Files that Git ignores are left out.',
    inputSchema: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          description:
            'For example *.ts (at any depth), src/**/*.test.ts, package.json. Without a slash it is matched against names, with one against paths.',
        },
        path: { type: 'string', description: 'Only below this folder.' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    access: 'read',
    timeoutMs: 60_000,
    async needsApproval(value) {
      const { pattern, path } = toolInput(Input, value);
      return question(pattern, path === undefined ? null : await locate(workspace, path));
    },
    async run(value, signal, run) {
      const { pattern, path } = toolInput(Input, value);
      const located = path === undefined ? null : await locate(workspace, path);
      assertAsked(question(pattern, located), run?.approved);
      const within = located?.place ?? null;
      const matches = globMatcher(pattern.includes('/') ? pattern : `**/${pattern}`, { ignoreCase: true });
      const found: string[] = [];
      let complete = true;
      for (const root of searchRoots(workspace, within)) {
        const walked = await walkFiles(
          workspace,
          root,
          async (file) => {
            if (matches(file.place.path) || matches(file.name)) found.push(file.name);
            return found.length <= mostFound;
          },
          signal,
        );
        complete &&= walked.complete;
      }
      const notes = [
        found.length > mostFound ? `[More than ${mostFound}: make the pattern narrower.]` : '',
        complete ? '' : '[Not all of this large workspace was looked at: give a folder.]',
      ].filter((note) => note !== '');
      if (found.length === 0) return { text: [`No file matches ${pattern}.`, ...notes].join('\n'), status: 'ok' };
      return { text: [...found.slice(0, mostFound), ...notes].join('\n'), status: 'ok' };
    },
  };
}
