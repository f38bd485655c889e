import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { SyncEngine } from '../../../src/core/sync/syncEngine';
import { openPostgres } from '../../../src/node/sync/postgresEngine';
import { tempFolder, type TempFolder } from '../store/storeTemp';
import { waitFor } from '../waitFor';

const versions = '/usr/lib/postgresql';
const newest = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0] : undefined;
const programs = newest === undefined ? undefined : join(versions, newest, 'bin');

/** The server does not run as root: then as the user that its package has made. */
const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

function idOf(flag: string): number {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim() || 'NaN');
}

/** A PostgreSQL of Debian's package in a folder of its own, on a port of its own. */
export class PostgresServer {
  static readonly isThere = programs !== undefined && !Number.isNaN(user.uid ?? 0);
  private process: ChildProcess | undefined;

  private constructor(
    private readonly temp: TempFolder,
    private readonly port: number,
  ) {}

  static async start(): Promise<PostgresServer> {
    const temp = tempFolder();
    if (user.uid !== undefined) spawnSync('chown', [`${user.uid}:${user.gid}`, temp.path]);
    const data = join(temp.path, 'data');
    const made = spawnSync(join(programs!, 'initdb'), ['-D', data, '-U', 'keeper', '-A', 'trust', '--no-sync'], {
      ...user,
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(made.stderr);
    const server = new PostgresServer(temp, await freePort());
    await server.run('');
    return server;
  }

  get address(): string {
    return `postgres://keeper@127.0.0.1:${this.port}/postgres`;
  }

  get folder(): string {
    return join(this.temp.path, 'data');
  }

  open(history: string, create: boolean): Promise<SyncEngine> {
    return openPostgres(this.address, history, create, undefined);
  }

  /** Starts the server when it is not there; every statement of `sql` as its owner. */
  async run(sql: string): Promise<string> {
    const psql = () =>
      spawnSync(
        join(programs!, 'psql'),
        ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'keeper', '-At', '-c', sql || 'SELECT 1', 'postgres'],
        { encoding: 'utf8' },
      );
    await waitFor(
      'the database',
      () => {
        // It ends at once while processes of one that was killed still hold its memory: then it is begun again.
        this.begin();
        return spawnSync(join(programs!, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(this.port)]).status === 0;
      },
      { interval: 100 },
    );
    const { status, stdout, stderr } = psql();
    if (status !== 0) throw new Error(stderr);
    return stdout;
  }

  /** As a machine does that loses its power. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.end('SIGINT');
    this.temp.remove();
  }

  private begin(): void {
    if (this.process && this.process.exitCode === null && this.process.signalCode === null) return;
    const args = ['-D', this.folder, '-p', String(this.port), '-k', '', '-h', '127.0.0.1', '-c', 'fsync=on'];
    this.process = spawn(join(programs!, 'postgres'), args, { ...user, stdio: 'ignore' });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { process: running } = this;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await ended;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
