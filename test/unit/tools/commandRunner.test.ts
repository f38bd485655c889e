import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandEnvironment, variablesIn } from '../../../src/core/tools/command/commandEnvironment';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { parsePs } from '../../../src/node/tools/commandFamily';
import { isAlive } from '../../support/run/processes';
import { tempFolder } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

const nothing = { pass: [], withhold: [] };

describe('the environment of commands', () => {
  const secrets = {
    ...{
      GITHUB_TOKEN: 'x',
      NPM_TOKEN: 'x',
      NODE_AUTH_TOKEN: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SESSION_TOKEN: 'x',
      CLIENT_SECRET: 'x',
      SECRET_KEY_BASE: 'x',
      PGPASSWORD: 'x',
      MYSQL_PWD: 'x',
    },
    ...{
      DB_PASSWORD: 'x',
      stripe_api_key: 'x',
      GOOGLE_APPLICATION_CREDENTIALS: '/x',
      SSH_AUTH_SOCK: '/x',
      GITLAB_PAT: 'x',
      SLACK_WEBHOOK_URL: 'x',
      AZURE_STORAGE_CONNECTION_STRING: 'x',
    },
    ...{
      DATABASE_URL: 'postgres://ada:pw/w@h/db',
      REDIS: 'redis://:pw@h',
      HTTPS_PROXY: 'http://ada:pw@proxy:80',
      JDBC: 'jdbc:x://h?user=a&password=b',
      EXTRA: 'Authorization: Basic YTpi',
      PEM: '-----BEGIN RSA PRIVATE KEY-----\nx',
      MINE: `ghp_${'a'.repeat(36)}`,
    },
    ...{
      BW_SESSION: 'x',
      OP_SESSION_my: 'x',
      COOKIE: 'x',
      SENTRY_DSN: 'x',
      STRIPE: `sk_live_${'a1'.repeat(12)}`,
      VAULT: `hvs.${'a1'.repeat(12)}`,
      GROK: `xai-${'a1'.repeat(12)}`,
      HOOK: `whsec_${'a1'.repeat(12)}`,
      BOT: `123456789:${'a1'.repeat(17)}`,
      AGE: `AGE-SECRET-KEY-1${'Q'.repeat(40)}`,
    },
  };
  const plain = {
    PATH: '/bin',
    HOME: '/home/ada',
    PWD: '/w',
    OLDPWD: '/',
    LANG: 'C',
    TOKENIZERS_PARALLELISM: 'false',
    CI_SERVER: 'https://ada@h:80/x',
    URL: 'https://h:8080/a?b',
    KEYBOARD: 'us',
    XAUTHORITY: '/x',
    EMPTY: '',
    DESKTOP_SESSION: 'gnome',
    LS_COLORS: 'rs=0:di=01;34:*.tar=01;31',
    LESSOPEN: '| /usr/bin/lesspipe %s',
  };
  const own = { ANTHROPIC_API_KEY: 'x', OPENAI_BASE_URL: 'x', VSCODE_IPC_HOOK: 'x', ELECTRON_RUN_AS_NODE: '1', THREADKEEPER_X: '1' };

  it('is without what looks like a secret by its name or its value, and with all else', () => {
    const { passed, withheld } = commandEnvironment({ ...plain, ...secrets, ...own, GONE: undefined }, nothing);
    deepStrictEqual(passed, plain);
    deepStrictEqual(withheld, Object.keys(secrets).sort());
  });

  it('is as the user has chosen, but never holds the program’s own keys', () => {
    const { passed, withheld } = commandEnvironment(
      { ...plain, ...secrets, ...own },
      { pass: ['github_token', 'AWS_*', ' ', 'ANTHROPIC_*'], withhold: ['HO*', 'LANG'] },
    );
    deepStrictEqual(
      Object.keys(passed).filter((name) => name in secrets || name in own),
      ['GITHUB_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID', 'AWS_SESSION_TOKEN'],
    );
    ok(withheld.includes('HOME') && withheld.includes('LANG') && !('HOME' in passed));
  });

  it('is told of by the names that a text speaks of', () => {
    deepStrictEqual(variablesIn('curl -H "x: $GITHUB_TOKEN" ${Npm_Token} MY_DB_PASSWORD', ['DB_PASSWORD', 'GITHUB_TOKEN', 'NPM_TOKEN']), [
      'GITHUB_TOKEN',
      'NPM_TOKEN',
    ]);
  });
});

describe('commands end whole', function () {
  if (process.platform === 'win32') return;
  this.timeout(30_000);
  let temp: ReturnType<typeof tempFolder>;
  let runner: CommandRunner;
  const started: number[] = [];
  beforeEach(async () => {
    temp = tempFolder();
    await writeFile(join(temp.path, 'note.sh'), note);
    await writeFile(join(temp.path, 'daemon.cjs'), daemon);
    runner = new CommandRunner(() => nothing);
  });
  afterEach(async () => {
    runner.dispose();
    for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await rm(temp.path, { recursive: true, force: true });
  });

  const note = `echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000`;
  const node = JSON.stringify(process.execPath);
  /** Starts a Node of its own in a session of its own, which starts the process and ends: nobody is its parent then. */
  const daemon = `const { spawn } = require('node:child_process');
const far = process.argv[2] === 'far';
spawn(far ? 'sh' : process.execPath, far ? ['note.sh'] : [__filename, 'far'], { detached: true, stdio: 'ignore' }).unref();`;
  const ways: Readonly<Record<string, string>> = {
    'in the background': `sh -c '${note}' & wait`,
    'with nohup, its output elsewhere': `nohup sh -c '${note}' >/dev/null 2>&1 & wait`,
    'deaf to being asked': `sh -c 'trap "" TERM HUP INT; echo $$ > pid.tmp; mv pid.tmp pid; while :; do sleep 0.1; done' & wait`,
    'in a group of its own': `set -m; sh -c '${note}' & wait`,
    'as a daemon without a parent': `${node} daemon.cjs; sleep 1000`,
    ...(process.platform === 'linux'
      ? {
          'in a session of its own': `setsid sh -c '${note}' & wait`,
          'in a session of its own without its variables': `setsid env -i PATH="$PATH" sh -c '${note}' & wait`,
        }
      : {}),
  };

  const pidOf = async () => {
    await waitFor('the process to begin', async () => (await readFile(join(temp.path, 'pid'), 'utf8').catch(() => '')).trim() !== '');
    const pid = Number(await readFile(join(temp.path, 'pid'), 'utf8'));
    started.push(pid);
    return pid;
  };

  for (const [way, command] of Object.entries(ways)) {
    it(`when they are stopped, with what they have started ${way}`, async () => {
      const stop = new AbortController();
      const running = runner.run(command, temp.path, () => undefined, stop.signal);
      const pid = await pidOf();
      ok(isAlive(pid));
      stop.abort();
      await running;
      await waitFor('what was started to end', () => !isAlive(pid));
    });
  }

  it('when the window closes: those that run, and what earlier ones have left in the background', async () => {
    const left = await runner.run(`${node} daemon.cjs`, temp.path, () => undefined, new AbortController().signal);
    strictEqual(left.code, 0);
    const earlier = await pidOf();
    await rm(join(temp.path, 'pid'));
    const running = runner.run(`nohup sh -c '${note}' >/dev/null 2>&1 & wait`, temp.path, () => undefined, new AbortController().signal);
    const now = await pidOf();
    ok(isAlive(earlier), 'a command may leave something running');
    runner.dispose();
    await running;
    await waitFor('both to end', () => !isAlive(earlier) && !isAlive(now));
  });

  it('and leave those of another window alone', async () => {
    const other = new CommandRunner(() => nothing);
    const running = other.run(`sh -c '${note}' & wait`, temp.path, () => undefined, new AbortController().signal);
    const pid = await pidOf();
    await runner.run('true', temp.path, () => undefined, new AbortController().signal);
    runner.dispose();
    ok(isAlive(pid));
    other.dispose();
    await running;
    await waitFor('it to end', () => !isAlive(pid));
  });

  it('and get no secret of the program that runs them', async () => {
    let output = '';
    process.env['REVIEW_TOKEN'] = 'very-secret';
    try {
      await runner.run('env', temp.path, (text) => void (output += text), new AbortController().signal);
      ok(runner.withheld.includes('REVIEW_TOKEN'));
    } finally {
      delete process.env['REVIEW_TOKEN'];
    }
    match(output, /^PATH=/m);
    ok(!/very-secret|REVIEW_TOKEN/.test(output));
  });

  it('are found in what the ps of macOS prints', () => {
    const rows = parsePs(
      '  501     1   501 Ss   Mon Nov  3 09:05:06 2026     node a b THREADKEEPER_COMMAND=x-1. HOME=/Users/ada\n  502   501   501 Z    Mon Nov  3 09:05:06 2026     (sh)\nrubbish\n',
    );
    deepStrictEqual(rows, [
      {
        pid: 501,
        parent: 1,
        group: 501,
        session: null,
        started: 'Mon Nov  3 09:05:06 2026',
        environment: 'node a b THREADKEEPER_COMMAND=x-1. HOME=/Users/ada',
      },
    ]);
  });

  it('also in a shell that another program starts, which gets what a command gets', async () => {
    process.env['TIDE_API_KEY'] = 'secret';
    try {
      const { environment, unwanted, end } = runner.claim();
      deepStrictEqual(
        [
          Object.entries(environment)
            .filter(([name]) => process.env[name] !== environment[name])
            .map(([name]) => name)
            .sort(),
          'TIDE_API_KEY' in environment,
        ],
        [['GIT_PAGER', 'GIT_TERMINAL_PROMPT', 'PAGER', 'TERM', 'THREADKEEPER_COMMAND'], false],
      );
      ok(unwanted.includes('TIDE_API_KEY') && !unwanted.includes('PATH'));
      const shell = spawn('sh', ['-c', `sh -c '${note}' & wait`], { cwd: temp.path, env: environment, stdio: 'ignore' });
      const ended = once(shell, 'exit');
      const pid = Number(await waitFor('the process', () => readFile(join(temp.path, 'pid'), 'utf8')));
      started.push(pid);
      end();
      deepStrictEqual(await ended, [null, 'SIGKILL']);
      await waitFor('its end', () => !isAlive(pid), { interval: 5 });
    } finally {
      delete process.env['TIDE_API_KEY'];
    }
  });
});
