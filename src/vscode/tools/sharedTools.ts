import { LanguageModelTextPart, LanguageModelToolResult, lm, MarkdownString, type CancellationToken } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { visibleText } from '../../core/base/text';
import { t } from '../../core/l10n';
import { sharedToolNames } from '../manifest';

export type SharedToolName = keyof typeof sharedToolNames;

/** What the tool answers. */
export type RunSharedTool = (name: SharedToolName, input: object, signal: AbortSignal) => Promise<string>;

/** Lets other agents of this VS Code look things up in the history and the notes; the user is asked, and nothing can be changed. */
export function shareTools(run: RunSharedTool): Disposable {
  const shared = new DisposableStore();
  const share = (name: SharedToolName, title: string, message: string) =>
    shared.add(
      lm.registerTool<object>(sharedToolNames[name], {
        prepareInvocation: ({ input }) => ({
          invocationMessage: title,
          confirmationMessages: { title, message: confirmation(message, input) },
        }),
        invoke: async ({ input }, token) =>
          new LanguageModelToolResult([new LanguageModelTextPart(await run(name, input, abortedBy(token)))]),
      }),
    );
  share('recall', t('Look up the open Threadkeeper session'), t('Passages of the conversation are given to the agent that asks.'));
  share('search', t('Search all Threadkeeper sessions'), t('Passages of your conversations are given to the agent that asks.'));
  share('notes', t('Read Threadkeeper’s notes'), t('The notes are given to the agent that asks.'));
  return shared;
}

function abortedBy(token: CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}

/** What is asked for stands there as it is, with nothing that VS Code could take for Markdown. */
function confirmation(message: string, input: object): MarkdownString {
  const asked = Object.keys(input).length === 0 ? '' : `\n\n${t('It asks with: {0}', visibleText(JSON.stringify(input)))}`;
  return new MarkdownString().appendText(`${message}${asked}`);
}
