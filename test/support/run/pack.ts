import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packedExtension } from '../vscode/packedExtension';
import { projectRoot } from '../paths';

/** `npm run package`. */
async function main(): Promise<void> {
  const vsix = join(projectRoot, 'dist', 'threadkeeper.vsix');
  await copyFile(await packedExtension(), vsix);
  console.log(vsix);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
