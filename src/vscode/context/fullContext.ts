import { window, type QuickPickItem } from 'vscode';
import type { FullQuestion, WhenFullAnswer } from '../../core/chat/turn/turn';
import { t } from '../../core/l10n';
import type { FullAnswer } from '../../protocol/messages';
import type { FullQuestions } from './fullQuestions';

/**
 * Carries out what was chosen; asks for the instructions first where they are wanted, and answers nothing when that is closed. Rejects in
 * words for the user.
 */
export async function answerFull(questions: FullQuestions, session: string | undefined, answer: FullAnswer): Promise<void> {
  const settled = () => new Error(t('Nothing waits for this decision any more.'));
  if (session === undefined || !questions.pending(session)) throw settled();
  if (answer !== 'instructions') {
    if (!questions.answer(session, answer)) throw settled();
    return;
  }
  const instructions = await window.showInputBox({
    title: t('Compact with Instructions'),
    prompt: t('What the summary is to keep, or to leave out.'),
    ignoreFocusOut: true,
  });
  if (!instructions?.trim()) return;
  if (!questions.answer(session, { summarize: instructions.trim() })) throw settled();
}

/** For the palette, with the view closed or not; undefined when the list was closed, which answers nothing. */
export async function pickFullAnswer({ used, effective, limit }: FullQuestion): Promise<FullAnswer | undefined> {
  const item = (answer: FullAnswer, label: string, description: string): QuickPickItem & { readonly answer: FullAnswer } => ({
    answer,
    label,
    description,
  });
  const items = [
    item('summarize', t('Compact Now'), t('the older part becomes a summary; it can be undone')),
    item('instructions', t('Compact with Instructions…'), t('say what the summary is to keep')),
    item('truncate', t('Leave Out the Older Part'), t('no summary; it can be undone')),
    item(
      'continue',
      t('Go On as It Is'),
      used <= limit ? t('asked again when the context has grown') : t('too long for the model: your message will not be sent'),
    ),
  ];
  const picked = await window.showQuickPick(items, {
    title: t('The context is {0}% full', percentOf(used, effective)),
    placeHolder: t('Your message waits for this decision'),
    ignoreFocusOut: true,
  });
  return picked?.answer;
}

/** Where no view shows the card. Undefined when the message is closed, which answers nothing either: the badge and the command stay. */
export async function notifyFull({ used, effective }: FullQuestion): Promise<WhenFullAnswer | undefined> {
  const answers: readonly (readonly [WhenFullAnswer, string])[] = [
    ['summarize', t('Compact Now')],
    ['truncate', t('Leave Out the Older Part')],
    ['continue', t('Go On as It Is')],
  ];
  const question = t(
    'Threadkeeper: the context is {0}% full, and your message waits. Compact the older part, leave it out, or go on as it is?',
    percentOf(used, effective),
  );
  const picked = await window.showInformationMessage(question, ...answers.map(([, label]) => label));
  return answers.find(([, label]) => label === picked)?.[0];
}

function percentOf(used: number, effective: number): number {
  return Math.round((used / effective) * 100);
}
