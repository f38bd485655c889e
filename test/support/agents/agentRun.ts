import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { endTree } from '../run/processes';
import type { AgentDriver, AgentPlace } from './agentDrivers';
import { installAgent, nodeOf } from './agentInstall';

export interface AgentRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const longestTurn = 120_000;

/** An installed program with a home of its own. */
export class RealAgent {
  private constructor(
    readonly driver: AgentDriver,
    readonly place: AgentPlace,
    private readonly command: readonly string[],
  ) {
    for (const [name, content] of Object.entries(driver.files(place))) {
      const file = join(place.home, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    }
  }

  /** Rejects with npm's words when it cannot be installed. */
  static async install(driver: AgentDriver): Promise<(place: AgentPlace) => RealAgent> {
    const folder = await installAgent(driver.program, driver.install);
    const bin = join(folder, 'node_modules', ...driver.bin.split('/'));
    const command = driver.node === undefined ? [bin] : [await nodeOf(driver.node), bin];
    return (place) => new RealAgent(driver, place, command);
  }

  /** Null when it cannot be installed, which is said. */
  static async tryInstall(driver: AgentDriver): Promise<((place: AgentPlace) => RealAgent) | null> {
    try {
      return await RealAgent.install(driver);
    } catch (error) {
      const [reason] = String(error instanceof Error ? error.message : error).split('\n', 1);
      console.log(`skipped: ${driver.install.packages.join(', ')} could not be installed (${reason})`);
      return null;
    }
  }

  /** Everything of the environment that it gets: neither keys nor settings of whoever runs the tests. */
  get env(): Readonly<Record<string, string>> {
    const { home } = this.place;
    const node = this.driver.node === undefined ? process.execPath : this.command[0]!;
    return {
      PATH: [dirname(node), process.env['PATH'] ?? ''].join(delimiter),
      HOME: home,
      USERPROFILE: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local', 'share'),
      XDG_STATE_HOME: join(home, '.local', 'state'),
      XDG_CACHE_HOME: join(home, '.cache'),
      TMPDIR: join(home, 'tmp'),
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      CI: '1',
      // Whatever is not at the double is not reached.
      HTTP_PROXY: 'http://127.0.0.1:9',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      ...this.driver.env(this.place),
    };
  }

  turn(prompt: string): Promise<AgentRun> {
    return this.run(this.driver.turn(prompt));
  }

  /** Resolves when it has ended, by itself or after two minutes. */
  async run(args: readonly string[]): Promise<AgentRun> {
    mkdirSync(join(this.place.home, 'tmp'), { recursive: true });
    const [file = '', ...first] = this.command;
    const child = spawn(file, [...first, ...args], { cwd: this.place.work, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const timer = setTimeout(() => void endTree(child.pid!), longestTurn);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    }).finally(() => clearTimeout(timer));
    await this.endWhatIsLeft();
    return { code, stdout, stderr };
  }

  private async endWhatIsLeft(): Promise<void> {
    const { leaves } = this.driver;
    const file = leaves === undefined ? '' : join(this.place.home, leaves);
    if (!existsSync(file)) return;
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { readonly pid?: number };
    if (pid !== undefined) await endTree(pid);
  }
}
