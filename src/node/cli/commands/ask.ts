import { text as readAll } from 'node:stream/consumers';
import { askOnce } from '../../../core/chat/askOnce';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../flags';
import { plainText } from '../terminal';
import { providerFlags } from '../providerFlags';
import { billed, modelAlone } from '../run/withoutHistory';

const specs: readonly FlagSpec[] = [
  ...providerFlags,
  { name: 'json', help: 'one JSON object: ok, text, usage with its cost, and what went wrong' },
];

export const askHelp = `threadkeeper ask <question>: one question, without any history. Nothing is loaded, and nothing is stored: for scheduled checks.

${flagHelp(specs)}

Without a question on the command line, standard input is the question. The key is read from ANTHROPIC_API_KEY or OPENAI_API_KEY. Exit code 0
when it was answered in full, 3 when it was not; 2 for a command line that cannot be run.`;

/** Resolves with the exit code. */
export async function ask(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const asked = words.length > 0 ? words.join(' ') : await readAll(process.stdin);
  if (asked.trim() === '') throw new UsageError('A question is missing.');
  const json = flags['json'] !== undefined;
  const binding = await modelAlone(flags);
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort());
  let told = 0;
  const answer = await askOnce(
    binding,
    asked,
    (whole) => {
      if (!json) process.stdout.write(plainText(whole.slice(told)));
      told = whole.length;
    },
    abort.signal,
  );
  const { text, problem } = answer;
  if (json)
    process.stdout.write(
      `${JSON.stringify({ ok: problem === null, text, usage: billed(binding, answer), ...(problem === null ? {} : { problem }) })}\n`,
    );
  else if (text !== '') process.stdout.write('\n');
  if (problem !== null && !json) process.stderr.write(`${problem}\n`);
  return problem === null ? 0 : 3;
}
