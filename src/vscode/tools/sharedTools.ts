import { LanguageModelTextPart, LanguageModelToolResult, lm, type CancellationToken } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import { createMemoryTool } from '../../core/memory/memoryTool';
import type { MemoryNotes, SessionStore } from '../../core/ports';
import { createRecallTool } from '../../core/recall/recallTool';
import type { Tool } from '../../core/tools/tool';
import { sharedToolNames } from '../contributions';

export interface SharedToolsDeps {
  readonly store: () => Promise<SessionStore>;
  readonly notes: () => Promise<MemoryNotes>;
  /** UUID of the session on show. */
  readonly session: () => string | null;
}

/** Lets other agents of this VS Code look things up in the history and the notes; the user is asked, and nothing can be changed. */
export function shareTools({ store, notes, session }: SharedToolsDeps): Disposable {
  const shared = new DisposableStore();
  const share = (name: string, title: string, message: string, tool: () => Promise<Tool>, inputOf: (input: object) => object = (input) => input) =>
    shared.add(
      lm.registerTool<object>(name, {
        prepareInvocation: () => ({ invocationMessage: title, confirmationMessages: { title, message } }),
        invoke: async ({ input }, token) => {
          const { text } = await (await tool()).run(inputOf(input), abortedBy(token));
          return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
        },
      }),
    );
  const recall = async () => createRecallTool({ store: await store(), session });
  share(sharedToolNames.recall, t('Look up the open Threadkeeper session'), t('Passages of the conversation are given to the agent that asks.'), recall);
  share(sharedToolNames.search, t('Search all Threadkeeper sessions'), t('Passages of your conversations are given to the agent that asks.'), recall, (input) => ({ ...input, allSessions: true }));
  share(sharedToolNames.notes, t('Read Threadkeeper’s notes'), t('The notes are given to the agent that asks.'), async () => createMemoryTool(await notes()), (input) => ({ ...input, command: 'view' }));
  return shared;
}

function abortedBy(token: CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}
