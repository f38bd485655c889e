import { fromEnv, runRemotely } from '../run/mochaRun';
import { lineMark } from './hostLines';

/** VS Code calls this inside the extension host (`extensionTestsPath`) and ends the host when it settles. */
export async function run(): Promise<void> {
  const { failed } = await runRemotely(fromEnv(process.env), (line) => console.log(lineMark + line));
  if (failed > 0) throw new Error(`${failed} failed`);
}
