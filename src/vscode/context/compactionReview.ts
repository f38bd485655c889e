import { window, type Uri } from 'vscode';
import { errorText } from '../../core/errors';
import type { CompactionReview, ReviewCompaction } from '../../core/chat/turn/turn';
import { shown, t, wholeNumber } from '../../core/l10n';
import type { CompactionPreviews } from './compactionPreviews';
import { compactionPreviewText } from './compactionPreviewText';

/** Opens the preview beside whatever the user is doing; the answer is given there or in the message. Closing the message means no. */
export function reviewWith(previews: CompactionPreviews): ReviewCompaction {
  return async (review) => {
    let uri: Uri | undefined;
    const inDocument = new Promise<boolean>((answer) => {
      // Without the document the message still asks.
      previews.show({ session: review.session, instructions: null, answer }, textOf(review)).then(
        (shown) => (uri = shown),
        () => undefined,
      );
    });
    const { tokensBefore, tokensAfter } = review.content;
    const apply = t('Compact');
    const question = t(
      'Threadkeeper: the context is full enough for a compaction ({0} → {1} tokens). The preview shows what it does. Your message waits for your answer.',
      wholeNumber(tokensBefore),
      wholeNumber(tokensAfter),
    );
    const inMessage = window.showInformationMessage(question, apply, t('Not Now')).then((picked) => picked === apply);
    const applies = await Promise.race([inDocument, inMessage]);
    if (!uri) return applies;
    try {
      const summary = applies ? previews.edited(uri) : undefined;
      await previews.close(uri);
      return summary === undefined ? applies : { summary };
    } catch (error) {
      // The document stays open, with what was written.
      void window.showErrorMessage(`Threadkeeper: ${shown(errorText(error))}`);
      return false;
    }
  };
}

function textOf({ content, folds, stays }: CompactionReview): string {
  const uuids = (entries: CompactionReview['folds']) => entries.map(({ uuid }) => uuid);
  return compactionPreviewText(
    { content, folds: uuids(folds), stays: uuids(stays), message: null },
    new Map([...folds, ...stays].map((entry) => [entry.uuid, entry])),
  );
}
