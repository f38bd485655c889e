import { CancellationTokenSource, workspace } from 'vscode';
import { openFolders, workspacePath } from '../tools/openFolders';

/** Files that are named; their names are a part of every prompt. */
const most = 20;
/** A huge workspace on a slow disk must not hold up its first message. */
const patienceMs = 2_000;
const pattern = '*/**/{AGENTS,CLAUDE}.md';
const elsewhere = '**/{node_modules,.git,vendor,dist,out,build,target,.venv}/**';

/** Instruction files in folders below the workspace's own. Never rejects: without an answer in time there are none. */
export async function nestedInstructionFiles(): Promise<readonly string[]> {
  const source = new CancellationTokenSource();
  const timer = setTimeout(() => source.cancel(), patienceMs);
  try {
    const found = await workspace.findFiles(pattern, elsewhere, most, source.token);
    const folders = openFolders();
    return source.token.isCancellationRequested ? [] : found.flatMap((uri) => workspacePath(uri, folders) ?? []).sort();
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
    source.dispose();
  }
}
