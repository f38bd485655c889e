import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { why, whyHelp } from './attribution/whyCommand';
import { ask, askHelp } from './cli/commands/ask';
import { backup, backupHelp } from './cli/commands/backup';
import { cleanUp, cleanUpHelp } from './cli/commands/cleanUp';
import { compact, compactHelp } from './cli/commands/compact';
import { context, contextHelp } from './cli/commands/context';
import { embed, embedHelp } from './cli/commands/embed';
import { exportCommand, exportHelp } from './cli/commands/export';
import { handOverCommand, handOverHelp } from './cli/agents/handOver';
import { importCommand, importHelp } from './cli/commands/import';
import { explain, run, runHelp } from './cli/commands/run';
import { mcp, mcpHelp } from './cli/commands/mcp';
import { restore, restoreHelp } from './cli/commands/restore';
import { restoreFilesCommand, restoreFilesHelp } from './cli/commands/restoreFiles';
import { search, searchHelp } from './cli/commands/search';
import { sessions, sessionsHelp } from './cli/commands/sessions';
import { show, showHelp } from './cli/commands/show';
import { stats, statsHelp } from './cli/commands/stats';
import { sync, syncHelp } from './cli/commands/sync';
import { watch, watchHelp } from './cli/commands/watch';
import { verify, verifyHelp } from './cli/commands/verify';

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

const commands = [
  { name: 'run', run, help: runHelp },
  { name: 'ask', run: ask, help: askHelp },
  { name: 'sessions', run: sessions, help: sessionsHelp },
  { name: 'show', run: show, help: showHelp },
  { name: 'search', run: search, help: searchHelp },
  { name: 'why', run: why, help: whyHelp },
  { name: 'embed', run: embed, help: embedHelp },
  { name: 'context', run: context, help: contextHelp },
  { name: 'compact', run: compact, help: compactHelp },
  { name: 'stats', run: stats, help: statsHelp },
  { name: 'clean-up', run: cleanUp, help: cleanUpHelp },
  { name: 'watch', run: watch, help: watchHelp },
  { name: 'mcp', run: mcp, help: mcpHelp },
  { name: 'sync', run: sync, help: syncHelp },
  { name: 'import', run: importCommand, help: importHelp },
  { name: 'hand-over', run: handOverCommand, help: handOverHelp },
  { name: 'export', run: exportCommand, help: exportHelp },
  { name: 'verify', run: verify, help: verifyHelp },
  { name: 'backup', run: backup, help: backupHelp },
  { name: 'restore', run: restore, help: restoreHelp },
  { name: 'restore-files', run: restoreFilesCommand, help: restoreFilesHelp },
];

async function main([command, ...args]: readonly string[]): Promise<number> {
  const known = commands.find(({ name }) => name === command);
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

// A reader that has gone away is no reason for a stack trace.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const { text, code } = explain(error, process.argv[2] ?? 'run');
    process.stderr.write(`${text}\n`);
    process.exitCode = code;
  },
);
