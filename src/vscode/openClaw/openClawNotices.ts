import { window } from 'vscode';
import { t } from '../../core/l10n';
import type { OpenClawNotice } from '../../node/transfer/openClaw/openClawWatch';

/** The settings name a session that the user has not chosen here. */
export async function confirmWatch(key: string): Promise<boolean> {
  const watch = t('Watch');
  const text = t(
    'The settings of this workspace want to show OpenClaw’s session {0} here. Its history would be read into this workspace’s, and sent to the model when you go on with it.',
    key,
  );
  return (await window.showWarningMessage(`Threadkeeper: ${text}`, watch)) === watch;
}

/** Names the file that is written to from then on. */
export async function confirmReplies(key: string, file: string): Promise<boolean> {
  const append = t('Append Replies');
  const detail = [
    t(
      'What you say in this session, and what is answered, is appended to {0} and, after a reset in OpenClaw, to the file that {1} goes on in. That includes what you have said since OpenClaw was there last.',
      file,
      key,
    ),
    t('OpenClaw’s models are sent it as part of the conversation; it is delivered to nobody. What stands in the file is not changed.'),
  ].join('\n\n');
  return (await window.showWarningMessage(t('Write replies to OpenClaw’s session?'), { modal: true, detail }, append)) === append;
}

/** `goToTip`: to where OpenClaw stands. Rejects with what that rejects with. */
export async function showOpenClawNotice(notice: OpenClawNotice, goToTip: () => Promise<void>): Promise<void> {
  switch (notice.type) {
    case 'appended':
      return;
    case 'waiting':
      return void window.showInformationMessage(`Threadkeeper: ${waitingText(notice.why)}`);
    case 'unread':
      return void window.showWarningMessage(`Threadkeeper: ${t('OpenClaw’s session could not be read. {0}', notice.detail)}`);
    case 'failed':
      return void window.showWarningMessage(
        `Threadkeeper: ${t('Replies could not be written to OpenClaw’s session. They are kept here and tried again. {0}', notice.detail)}`,
      );
    case 'parted': {
      const go = t('Go to OpenClaw’s Branch');
      const text = t(
        'OpenClaw’s conversation went on without what was said here last. Both are kept, as branches of this session; what you say on this one stays here.',
      );
      if ((await window.showWarningMessage(`Threadkeeper: ${text}`, go)) === go) await goToTip();
    }
  }
}

export function oneWayText(key: string): string {
  return t('OpenClaw keeps {0} in a database, which only OpenClaw may write to. What you say here stays here.', key);
}

function waitingText(why: 'answering' | 'locked' | 'growing'): string {
  switch (why) {
    case 'answering':
      return t('Replies to OpenClaw wait while it is answering in its session. They follow by themselves.');
    case 'locked':
      return t('Replies to OpenClaw wait while it is working in its session. They follow by themselves.');
    case 'growing':
      return t('Replies to OpenClaw wait until the last record of its session is complete. They follow by themselves.');
  }
}
