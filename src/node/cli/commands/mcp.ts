import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setShared, isShared } from '../../mcp/agentSharing';
import { everyPlace, onePlace } from '../../mcp/historyPlaces';
import type * as McpModule from '../../mcp/serveMcp';
import { SharedHistories } from '../../mcp/sharedHistories';
import { openStore } from '../../store/client/openStore';
import { storeFiles } from '../../store/database/storeFiles';
import { flagHelp, parseFlags, UsageError, type FlagSpec } from '../flags';
import { stderrWarnings } from '../terminal';

type ServeMcp = Pick<typeof McpModule, 'serveMcp'>;

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', help: 'folder of the one history that is served' },
  { name: 'all', help: 'every history of this person whose workspace shares it' },
  { name: 'registry', value: 'DIR', help: "with --all: the extension's global storage, where it is not in one of the usual places" },
  { name: 'name', value: 'NAME', help: 'with --store: what agents call the workspace; the name of the folder without it' },
  { name: 'write-notes', help: 'agents may add notes; without it nothing can be written' },
  { name: 'link-scheme', value: 'SCHEME', help: 'scheme of the links that open a session; default vscode' },
  {
    name: 'share',
    value: 'on|off',
    choices: ['on', 'off'],
    help: 'with --store: agents may read this history from now on, or no more; serves nothing',
  },
];

export const mcpHelp = `threadkeeper mcp: serves histories to other agents, by the Model Context Protocol over standard input and output.

${flagHelp(specs)}

Only what the user has switched on is read: in VS Code by "Threadkeeper: Share This History with Agents…", here by --share on. That is kept
in the folder of the history (agents.json) and looked up at every call. The store may be in use: the window that has it open is asked, and
where none has, a copy is read. Ends when standard input does. Exit code 2 for a command line that cannot be run.`;

/** Resolves with the exit code, when nobody asks any more. */
export async function mcp(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const folder = flags['store'];
  if ((folder === undefined) === (flags['all'] === undefined)) throw new UsageError('Say either --store DIR or --all.');
  if (flags['share'] !== undefined) {
    if (folder === undefined) throw new UsageError('--share goes with --store DIR: it is decided for each history by itself.');
    // Said of a folder beside the one that is meant, it would hold for neither.
    const { main, generation } = storeFiles(folder);
    if (!existsSync(main) && !existsSync(generation))
      throw new Error(`${folder} is not the folder of a history: it has no threadkeeper.db. Nothing was changed.`);
    await setShared(folder, flags['share'] === 'on');
    process.stderr.write(`Agents ${(await isShared(folder)) ? 'may' : 'may not'} read this history.\n`);
    return 0;
  }
  const places = folder === undefined ? everyPlace(flags['registry']) : onePlace(folder, flags['name']);
  const histories = new SharedHistories(places, (one) =>
    openStore({
      folder: one,
      workerFile: join(__dirname, 'storeWorker.js'),
      label: 'threadkeeper mcp',
      readonly: 'join',
      logger: stderrWarnings(),
    }),
  );
  // The SDK is a file of its own: no other command reads it. An import would read it twice, to find what it exports: that took longer
  // than all the rest of the start, and agents that have waited for their first message go on without the tools.
  const { serveMcp } = createRequire(__filename)(join(__dirname, 'mcp.js')) as ServeMcp;
  await serveMcp({
    histories,
    version: (JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as { version: string }).version,
    writesNotes: flags['write-notes'] !== undefined,
    linkScheme: flags['link-scheme'] ?? 'vscode',
  });
  return 0;
}
