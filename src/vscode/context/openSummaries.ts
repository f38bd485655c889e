import type { Conversation } from '../../core/chat/conversation';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import { liveCompaction } from '../../core/session/liveCompaction';

/** What a document with a summary is for. */
export interface SummaryPlace {
  readonly session: string | null;
  readonly compaction: string | null;
}

export interface OpenSummary {
  /** The compaction whose summary is being edited: another one may have taken its place by the time it is saved. */
  readonly compaction: string;
  readonly text: string;
  readonly savedAt: number;
}

/** A summary cannot be read or saved; the message is for the user. `isGone`: it never will be. */
export class SummaryFault extends Error {
  override readonly name = 'SummaryFault';
  constructor(
    message: string,
    readonly isGone = false,
  ) {
    super(message);
  }
}

/** Summaries that are being edited, by the address of their document. */
export class OpenSummaries {
  private readonly opened = new Map<string, OpenSummary>();

  constructor(
    /** The conversation of a session that is on show; another one, or null, when that is not. */
    private readonly open: (session: string | null) => Promise<Conversation | null>,
    private readonly now: () => number,
  ) {}

  /** As it was when it was opened or saved last. Rejects with `SummaryFault`. */
  async read(address: string, place: SummaryPlace): Promise<OpenSummary> {
    const known = this.opened.get(address);
    if (known) return known;
    const conversation = await this.conversation(place);
    const live = liveCompaction(conversation.entries);
    const text = conversation.editableSummary;
    if (!live || text === null || !conversation.entries.some(({ uuid }) => uuid === place.compaction))
      throw new SummaryFault(t('This summary is not in use any more.'), true);
    const opened = { compaction: live.uuid, text, savedAt: live.createdAt };
    this.opened.set(address, opened);
    return opened;
  }

  /** False when the text is what it was. Rejects with `SummaryFault`, and then the summary stays as it was. */
  async write(address: string, place: SummaryPlace, text: string): Promise<boolean> {
    const opened = await this.read(address, place);
    if (text.trim() === opened.text.trim()) return false;
    const conversation = await this.conversation(place);
    const live = liveCompaction(conversation.entries);
    if (live?.uuid !== opened.compaction) {
      if (!live && conversation.entries.some(({ uuid }) => uuid === opened.compaction))
        throw new SummaryFault(
          t('The compaction was undone: the model sees the messages themselves again. Copy what you need and close this document.'),
        );
      if (!live) throw new SummaryFault(t('This summary is not in use any more.'));
      throw new SummaryFault(
        t(
          'The conversation has got another summary since this one was opened. Copy what you need, close this document and use “Edit Summary…” again.',
        ),
      );
    }
    const { entry, message } = await conversation.editSummary(text);
    if (!entry) throw new SummaryFault(message ?? t('The summary stays as it was.'));
    this.opened.set(address, { compaction: entry.uuid, text, savedAt: this.now() });
    return true;
  }

  forget(address: string): void {
    this.opened.delete(address);
  }

  private async conversation({ session }: SummaryPlace): Promise<Conversation> {
    const conversation = await this.open(session).catch((error: unknown) => {
      throw new SummaryFault(shown(errorText(error)));
    });
    if (conversation?.session.uuid !== session)
      throw new SummaryFault(t('This summary belongs to another session. Open that session in the chat, then save again.'));
    return conversation;
  }
}
