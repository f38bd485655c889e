import { LanguageModelTextPart, LanguageModelToolResult, lm, type CancellationToken } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import { sharedToolNames } from '../contributions';

export type SharedToolName = keyof typeof sharedToolNames;

/** What the tool answers. */
export type RunSharedTool = (name: SharedToolName, input: object, signal: AbortSignal) => Promise<string>;

/** Lets other agents of this VS Code look things up in the history and the notes; the user is asked, and nothing can be changed. */
export function shareTools(run: RunSharedTool): Disposable {
  const shared = new DisposableStore();
  const share = (name: SharedToolName, title: string, message: string) =>
    shared.add(
      lm.registerTool<object>(sharedToolNames[name], {
        prepareInvocation: () => ({ invocationMessage: title, confirmationMessages: { title, message } }),
        invoke: async ({ input }, token) => new LanguageModelToolResult([new LanguageModelTextPart(await run(name, input, abortedBy(token)))]),
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
