import { ProgressLocation, window, workspace } from 'vscode';
import { askOnce } from '../../core/chat/askOnce';
import { t, wholeNumber } from '../../core/l10n';
import type { ModelSource } from './modelSource';

export interface AskWithoutHistoryDeps {
  readonly models: Pick<ModelSource, 'resolve'>;
  /** The model of the session on show answers; null stands for the default. */
  readonly model: string | null;
}

/** *Ask Without History…*: the answer opens in an untitled document, and nothing of it is kept. Rejects in words for the user. */
export async function askWithoutHistory(typed: string, { models, model }: AskWithoutHistoryDeps): Promise<void> {
  const question =
    typed.trim() !== ''
      ? typed
      : await window.showInputBox({
          title: t('Ask Without History'),
          prompt: t('A single question: no history is read, and none is written.'),
          ignoreFocusOut: true,
        });
  if (question === undefined || question.trim() === '') return;
  const binding = await models.resolve(model);
  if (!binding.client.generates)
    throw new Error(
      t('Offline mode answers from the history, which is what you want to leave out. Choose a model first (Threadkeeper: Select Model…).'),
    );
  const abort = new AbortController();
  const { text, problem } = await window.withProgress(
    { location: ProgressLocation.Notification, title: t('{0} answers without history', binding.info.name), cancellable: true },
    async (progress, token) => {
      token.onCancellationRequested(() => abort.abort());
      return askOnce(
        binding,
        question,
        (answer) => progress.report({ message: t('{0} characters', wholeNumber(answer.length)) }),
        abort.signal,
      );
    },
  );
  if (text === '' && abort.signal.aborted) return;
  // The question is kept, also without an answer: it may have taken long to write.
  await window.showTextDocument(
    await workspace.openTextDocument({ language: 'markdown', content: `> ${question.replaceAll('\n', '\n> ')}\n\n${text}\n` }),
  );
  if (problem !== null && !abort.signal.aborted) throw new Error(problem);
}
