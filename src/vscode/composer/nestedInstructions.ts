import { CancellationTokenSource, workspace } from 'vscode';

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
    return source.token.isCancellationRequested ? [] : found.map((uri) => workspace.asRelativePath(uri)).sort();
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
    source.dispose();
  }
}
