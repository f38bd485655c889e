import * as z from 'zod/mini';
import { t } from '../l10n';
import { globMatcher } from './glob';
import { locate, readQuestion } from './located';
import type { Tool } from './tool';
import { toolInput } from './toolInput';
import type { ToolWorkspace } from './toolWorkspace';
import { searchRoots, walkFiles } from './walk';

const Input = z.object({ pattern: z.string().check(z.minLength(1), z.maxLength(500)), path: z.optional(z.string()) });
const mostFound = 200;

export function createFindFilesTool(workspace: ToolWorkspace): Tool {
  return {
    name: 'find_files',
    description: 'Find files of the workspace by name. Files that Git ignores are left out.',
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'For example *.ts (at any depth), src/**/*.test.ts, package.json. Without a slash it is matched against names, with one against paths.' },
        path: { type: 'string', description: 'Only below this folder.' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    access: 'read',
    timeoutMs: 60_000,
    async needsApproval(value) {
      const { pattern, path } = toolInput(Input, value);
      return readQuestion(t('Find files called {0}', pattern), path === undefined ? { sensitive: null } : await locate(workspace, path));
    },
    async run(value, signal) {
      const { pattern, path } = toolInput(Input, value);
      const within = path === undefined ? null : (await locate(workspace, path)).place;
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
      const notes = [found.length > mostFound ? `[More than ${mostFound}: make the pattern narrower.]` : '', complete ? '' : '[Not all of this large workspace was looked at: give a folder.]'].filter((note) => note !== '');
      if (found.length === 0) return { text: [`No file matches ${pattern}.`, ...notes].join('\n'), status: 'ok' };
      return { text: [...found.slice(0, mostFound), ...notes].join('\n'), status: 'ok' };
    },
  };
}
