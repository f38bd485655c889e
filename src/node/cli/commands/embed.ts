import { ModelError } from '../../../core/models/modelEvent';
import { modelOfSpace, type VectorStatus } from '../../../core/embeddings/embeddings';
import { problemOf } from '../../embeddings/embeddingEndpoint';
import { embeddingFlags, embeddingKeyHelp, embeddingsOf } from '../embeddingFlags';
import { flagHelp, parseFlags, UsageError, type FlagSpec } from '../flags';
import { storeFlag, withReader, withWriter } from '../storeFlags';
import { stderrLogger } from '../terminal';

const specs: readonly FlagSpec[] = [
  storeFlag,
  ...embeddingFlags,
  { name: 'status', help: 'makes none, and says what there is' },
  { name: 'json', help: 'one JSON object: model, embedded, passages, bytes, full' },
];

export const embedHelp = `threadkeeper embed: has an embedding model make vectors of what was said, so that search finds it by its meaning.

${flagHelp(specs)}

${embeddingKeyHelp}
What was said since the last time is added; another model than then replaces all vectors. What tools returned gets none. Exit code 0 when all
is done; 2 for a command line that cannot be run, 1 when the server or the store cannot be used: what was made until then stays.`;

/** Resolves with the exit code. The result goes to standard output, progress to standard error. */
export async function embed(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const tell = (status: VectorStatus) =>
    process.stdout.write(`${flags['json'] === undefined ? forPeople(status) : JSON.stringify(toOutput(status))}\n`);
  if (flags['status'] !== undefined) {
    tell(await withReader(flags['store']!, 'embed', (store) => store.vectorStatus()));
    return 0;
  }
  if (flags['embeddings'] === undefined) throw new UsageError('--embeddings is missing: PROVIDER/MODEL, or --status.');
  const embeddings = embeddingsOf(flags, process.env, stderrLogger([]));
  embeddings.onDidChange((progress) => {
    if (progress) process.stderr.write(`${progress.embedded} of ${progress.passages} passages\n`);
  });
  try {
    await withWriter(flags['store']!, 'embed', async (store) => {
      await embeddings.finish(store);
      tell(await store.vectorStatus());
    });
    return 0;
  } catch (error) {
    if (!ModelError.is(error)) throw error;
    throw new Error(problemOf(error), { cause: error });
  } finally {
    embeddings.dispose();
  }
}

function toOutput({ space, ...status }: VectorStatus): object {
  return { model: space && modelOfSpace(space), ...status };
}

function forPeople({ space, embedded, passages, bytes, full }: VectorStatus): string {
  if (space === null) return `No vectors: ${passages.toLocaleString('en')} passages are found by their words alone.`;
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const room = full ? '; there is no room for older ones' : '';
  return `${embedded.toLocaleString('en')} of ${passages.toLocaleString('en')} passages have a vector of ${modelOfSpace(space)}, ${size}${room}.`;
}
