import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const help = `threadkeeper: conversations with Claude that keep their history.

  threadkeeper run …      one conversation on standard input and output (run --help)
  threadkeeper ask …      one question, without any history (ask --help)
  threadkeeper sessions … lists the sessions of a history (sessions --help)
  threadkeeper show …     what was said in a session (show --help)
  threadkeeper search …   finds what was said in a history (search --help)
  threadkeeper why …      which message a line of a file goes back to (why --help)
  threadkeeper embed …    has an embedding model read a history, for search by meaning (embed --help)
  threadkeeper context …  what the model would be sent, with its breakdown (context --help)
  threadkeeper compact …  folds older messages of a session into a summary (compact --help)
  threadkeeper stats …    sessions, tokens and cost by the day (stats --help)
  threadkeeper clean-up … moves sessions that nobody uses to the trash (clean-up --help)
  threadkeeper watch …    follows a session of another program as it goes on (watch --help)
  threadkeeper mcp …      serves histories to other agents (mcp --help)
  threadkeeper sync …     the same history on several machines (sync --help)
  threadkeeper import …   brings in sessions of other programs (import --help)
  threadkeeper hand-over … goes on with a session in another program, or gives it to a colleague (hand-over --help)
  threadkeeper export …   writes sessions as JSON, Markdown or HTML (export --help)
  threadkeeper verify …   checks a history for damage, and repairs it (verify --help)
  threadkeeper backup …   writes a history into one file (backup --help)
  threadkeeper restore …  puts a backup in place of a history (restore --help)
  threadkeeper restore-files … files as they were before a message (restore-files --help)
  threadkeeper --help     this text
  threadkeeper --version  which version this is`;

interface Command {
  /** Resolves with the exit code. */
  readonly run: (args: readonly string[]) => Promise<number>;
  readonly help: string;
}

/** Each is read when it is asked for: a server for agents starts in half the time. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => {
    const { run, runHelp } = await import('./cli/commands/run');
    return { run: run, help: runHelp };
  },
  ask: async () => {
    const { ask, askHelp } = await import('./cli/commands/ask');
    return { run: ask, help: askHelp };
  },
  sessions: async () => {
    const { sessions, sessionsHelp } = await import('./cli/commands/sessions');
    return { run: sessions, help: sessionsHelp };
  },
  show: async () => {
    const { show, showHelp } = await import('./cli/commands/show');
    return { run: show, help: showHelp };
  },
  search: async () => {
    const { search, searchHelp } = await import('./cli/commands/search');
    return { run: search, help: searchHelp };
  },
  why: async () => {
    const { why, whyHelp } = await import('./attribution/whyCommand');
    return { run: why, help: whyHelp };
  },
  embed: async () => {
    const { embed, embedHelp } = await import('./cli/commands/embed');
    return { run: embed, help: embedHelp };
  },
  context: async () => {
    const { context, contextHelp } = await import('./cli/commands/context');
    return { run: context, help: contextHelp };
  },
  compact: async () => {
    const { compact, compactHelp } = await import('./cli/commands/compact');
    return { run: compact, help: compactHelp };
  },
  stats: async () => {
    const { stats, statsHelp } = await import('./cli/commands/stats');
    return { run: stats, help: statsHelp };
  },
  'clean-up': async () => {
    const { cleanUp, cleanUpHelp } = await import('./cli/commands/cleanUp');
    return { run: cleanUp, help: cleanUpHelp };
  },
  watch: async () => {
    const { watch, watchHelp } = await import('./cli/commands/watch');
    return { run: watch, help: watchHelp };
  },
  mcp: async () => {
    const { mcp, mcpHelp } = await import('./cli/commands/mcp');
    return { run: mcp, help: mcpHelp };
  },
  sync: async () => {
    const { sync, syncHelp } = await import('./cli/commands/sync');
    return { run: sync, help: syncHelp };
  },
  import: async () => {
    const { importCommand, importHelp } = await import('./cli/commands/import');
    return { run: importCommand, help: importHelp };
  },
  'hand-over': async () => {
    const { handOverCommand, handOverHelp } = await import('./cli/agents/handOver');
    return { run: handOverCommand, help: handOverHelp };
  },
  export: async () => {
    const { exportCommand, exportHelp } = await import('./cli/commands/export');
    return { run: exportCommand, help: exportHelp };
  },
  verify: async () => {
    const { verify, verifyHelp } = await import('./cli/commands/verify');
    return { run: verify, help: verifyHelp };
  },
  backup: async () => {
    const { backup, backupHelp } = await import('./cli/commands/backup');
    return { run: backup, help: backupHelp };
  },
  restore: async () => {
    const { restore, restoreHelp } = await import('./cli/commands/restore');
    return { run: restore, help: restoreHelp };
  },
  'restore-files': async () => {
    const { restoreFilesCommand, restoreFilesHelp } = await import('./cli/commands/restoreFiles');
    return { run: restoreFilesCommand, help: restoreFilesHelp };
  },
};

async function main([command, ...args]: readonly string[]): Promise<number> {
  const known = command !== undefined && Object.hasOwn(commands, command) ? await commands[command]!() : undefined;
  if (known && (args.includes('--help') || args.includes('-h'))) {
    process.stdout.write(`${known.help}\n`);
    return 0;
  }
  if (known) return known.run(args);
  if (command === '--version') {
    process.stdout.write(`${versionOf(join(__dirname, '..', 'package.json'))}\n`);
    return 0;
  }
  const asked = command === '--help' || command === '-h' || command === 'help';
  const text = asked || command === undefined ? help : `Unknown command "${command}".\n\n${help}`;
  (asked ? process.stdout : process.stderr).write(`${text}\n`);
  return asked ? 0 : 2;
}

function versionOf(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

// A reader that has gone away is no reason for a stack trace, nor for an error; a full disk is one.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') writeSync(2, `The output could not be written: ${error.message}\n`);
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  async (error: unknown) => {
    const { explain } = await import('./cli/commands/run');
    const { text, code } = explain(error, process.argv[2] ?? 'run');
    process.stderr.write(`${text}\n`);
    process.exitCode = code;
  },
);
