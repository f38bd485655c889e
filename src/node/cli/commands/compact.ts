import { presetNames } from '../../../core/context/policy/resolvePolicy';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../flags';
import { plainText } from '../terminal';
import { providerFlags } from '../providerFlags';
import { withConversation } from './run';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', required: true, help: 'folder of the history' },
  ...providerFlags,
  {
    name: 'policy',
    value: 'POLICY',
    choices: presetNames,
    help: "how the context of the session is managed from now on; default: the session's own policy, else balanced",
  },
  { name: 'instructions', value: 'TEXT', help: 'what the summary is to look after' },
  { name: 'undo', help: 'take the last compaction back instead' },
  { name: 'json', help: 'one JSON object: ok, and what was done or why not' },
];

export const compactHelp = `threadkeeper compact <session>: folds older messages into a summary. Nothing is deleted: it can be taken back.

${flagHelp(specs)}

The session is named by its id (YYYYMMDD_NNN) or its uuid. The key is read from ANTHROPIC_API_KEY or OPENAI_API_KEY; with --model offline the
summary is made without a model. The store may be in use, the session must not be. Exit code 0 when it was done, 3 when there was nothing to
do; 2 for a command line that cannot be run, 1 when the store or the session cannot be opened.`;

/** Resolves with the exit code. */
export async function compact(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const [session, ...more] = words;
  if (session === undefined || more.length > 0) throw new UsageError('Name one session.');
  const write = (result: { readonly ok: boolean; readonly message: string | null } & Readonly<Record<string, unknown>>, text: string) => {
    if (flags['json'] !== undefined) process.stdout.write(`${JSON.stringify(result)}\n`);
    else (result.ok ? process.stdout : process.stderr).write(`${plainText(text)}\n`);
    return result.ok ? 0 : 3;
  };
  return withConversation('compact', { ...flags, session }, async (conversation) => {
    try {
      if (flags['undo'] !== undefined) {
        const { message } = await conversation.undoCompaction();
        return write({ ok: message === null, message }, message ?? 'The last compaction has been taken back.');
      }
      const { entry, message } = await conversation.compact(flags['instructions'] ?? null);
      if (!entry) return write({ ok: false, message }, message ?? 'There is nothing to compact.');
      const { rung, model, tokensBefore, tokensAfter, messagesBefore, messagesAfter, summaryText, continuity } = entry.content;
      const text = `${messagesBefore - messagesAfter} messages folded: ${tokensBefore.toLocaleString('en')} tokens before, ${tokensAfter.toLocaleString('en')} after (${rung}${model === null ? '' : `, ${model}`}).\n\n${summaryText}`;
      return write(
        {
          ok: true,
          message,
          entryId: entry.uuid,
          rung,
          model,
          tokensBefore,
          tokensAfter,
          messagesBefore,
          messagesAfter,
          summary: summaryText,
          ...(continuity ? { continuity } : {}),
        },
        text,
      );
    } finally {
      conversation.dispose();
    }
  });
}
