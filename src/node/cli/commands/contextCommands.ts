import type { Conversation } from '../../../core/chat/conversation';
import type { RunCommand, OutputLine } from '../run/runLines';

/** Commands about what the model is sent. */
export type ContextCommand = Extract<
  RunCommand,
  { cmd: 'preview' | 'summary' | 'edit_summary' | 'resummarize' | 'checkpoint' | 'pin' | 'unpin' | 'pins' }
>;

/** The answer of a context command. Rejects with `StoreError`. */
export async function contextCommand(conversation: Conversation, command: ContextCommand): Promise<OutputLine> {
  switch (command.cmd) {
    case 'preview': {
      const { content, folds, stays, message } = await conversation.previewCompaction(command.instructions ?? null);
      if (!content) return { type: 'preview', ok: false, message };
      const { rung, model, summaryText, tokensBefore, tokensAfter, audit, continuity } = content;
      return {
        type: 'preview',
        ok: true,
        rung,
        model,
        tokensBefore,
        tokensAfter,
        folds: folds.length,
        stays: stays.length,
        summary: summaryText,
        audit,
        continuity,
      };
    }
    case 'summary':
      return { type: 'summary', text: conversation.editableSummary };
    case 'edit_summary':
      return rewritten(await conversation.editSummary(command.text));
    case 'resummarize':
      return rewritten(await conversation.resummarize(command.instructions ?? null));
    case 'checkpoint': {
      const { entry, message } = await conversation.checkpoint();
      return {
        type: 'checkpoint_written',
        ok: entry !== null,
        ...(entry ? { entryId: entry.uuid, summary: entry.content.summary } : { message }),
      };
    }
    case 'pin':
      return pins(conversation, (await conversation.pin(command)).message);
    case 'unpin':
      await conversation.unpin(command);
      return pins(conversation, null);
    case 'pins':
      return pins(conversation, null);
  }
}

async function pins(conversation: Conversation, message: string | null): Promise<OutputLine> {
  const list = (await conversation.pins()).map(({ kind, target }) => ({ kind, target }));
  return { type: 'pins', ok: message === null, pins: list, ...(message === null ? {} : { message }) };
}

function rewritten({ entry, message }: Awaited<ReturnType<Conversation['editSummary']>>): OutputLine {
  return {
    type: 'summary_replaced',
    ok: message === null,
    ...(entry ? { entryId: entry.uuid, tokensAfter: entry.content.tokensAfter, summary: entry.content.summaryText } : { message }),
  };
}
