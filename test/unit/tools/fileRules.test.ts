import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import * as fc from 'fast-check';
import { editText, changedRange } from '../../../src/core/tools/files/editTools';
import { globMatcher } from '../../../src/core/tools/guard/glob';
import { GitIgnore } from '../../../src/core/tools/guard/gitIgnore';
import { pageText } from '../../../src/core/tools/files/textFile';
import { looksSecret } from '../../../src/core/tools/guard/secretFiles';
import { timeRatio } from '../../support/timeRatio';

describe('file patterns', () => {
  it('match names and paths', () => {
    const cases: [string, string, boolean][] = [
      ['*.ts', 'a.ts', true],
      ['*.ts', 'src/a.ts', false],
      ['**/*.ts', 'a.ts', true],
      ['**/*.ts', 'src/b/a.ts', true],
      ['src/**', 'src/b/a.ts', true],
      ['src/**/a.ts', 'src/a.ts', true],
      ['src/*/a.ts', 'src/a.ts', false],
      ['?.ts', 'ab.ts', false],
      ['[a-c]x', 'bx', true],
      ['[!a-c]x', 'bx', false],
      ['*.{ts,tsx}', 'a.tsx', true],
      ['{a,b}/{c,d}.x', 'b/c.x', true],
      ['a\\*b', 'a*b', true],
      ['a\\*b', 'axb', false],
      ['**', 'a/b', true],
      ['[', '[', true],
    ];
    for (const [pattern, path, expected] of cases) strictEqual(globMatcher(pattern)(path), expected, `${pattern} ${path}`);
    strictEqual(globMatcher('README*', { ignoreCase: true })('readme.md'), true);
  });

  it('take no exponential time, whatever they are', () => {
    const nasty = `${'*a'.repeat(200)}b`;
    strictEqual(globMatcher(nasty)('a'.repeat(5_000)), false);
    strictEqual(globMatcher(`${'**/a/'.repeat(100)}b`)('a/'.repeat(2_000)), false);
    ok(!globMatcher('{a,b}'.repeat(40))('c'));
    fc.assert(fc.property(fc.string(), fc.string(), (pattern, path) => void globMatcher(pattern)(path)));
  });

  it('say what Git ignores as Git does', async () => {
    const files: Record<string, string> = {
      '.gitignore': '# comment\nnode_modules/\n*.log\n!keep.log\n/build\ndocs/*.html\n\\#odd\ntrailing   \n{a}.x\n',
      'sub/.gitignore': '!special.log\nlocal/**\n',
    };
    const ignore = new GitIgnore(async (path) => files[path]);
    const ignored = [
      'node_modules/a/b.js',
      'x/node_modules/c.js',
      'a.log',
      'x/y.log',
      'build/out.js',
      'docs/a.html',
      '#odd',
      'trailing',
      'sub/local/x',
      'sub/deep/other.log',
    ];
    const kept = ['keep.log', 'x/keep.log', 'x/build/out.js', 'docs/sub/a.html', 'sub/special.log', 'node_modules.txt', 'src/a.ts'];
    deepStrictEqual(
      [
        await Promise.all(ignored.map((path) => ignore.ignores(path, false))),
        await Promise.all(kept.map((path) => ignore.ignores(path, false))),
      ],
      [ignored.map(() => true), kept.map(() => false)],
    );
    // Only a folder of that name.
    deepStrictEqual([await ignore.ignores('node_modules', false), await ignore.ignores('node_modules', true)], [false, true]);
  });

  it('takes no more time over hostile rules, and counts as ignored what it cannot decide', async function () {
    // Processor time is what counts here; on a busy machine it takes longer by the clock.
    this.timeout(60_000);
    const asked = async (rules: string, path: string) =>
      new GitIgnore(async (name) => (name === '.gitignore' ? rules : undefined)).ignores(path, false);
    const hostile: readonly ((size: number) => readonly [rules: string, path?: string])[] = [
      (size) => [`x${' '.repeat(size)}y`],
      (size) => [`x${'\t '.repeat(size / 2)}y`],
      (size) => [`x${'/'.repeat(size)}y`],
      (size) => ['['.repeat(size)],
      (size) => [`${'['.repeat(size)}]`],
      (size) => ['{a,b}'.repeat(size / 5)],
      (size) => [`${'*a'.repeat(size / 2)}b`, 'a'.repeat(4_000)],
      (size) => [`*${'a'.repeat(size)}b`, 'a'.repeat(4_000)],
      (size) => [`${'**/a/'.repeat(size / 5)}b`, 'a/'.repeat(2_000)],
      (size) => [`[${'z'.repeat(size)}]*q`, 'a'.repeat(4_000)],
      (size) => ['*a*b\n'.repeat(size / 5), 'a'.repeat(4_000)],
    ];
    for (const of of hostile) {
      const ask = (size: number) => {
        const [rules, path = 'a'] = of(size);
        return () => asked(rules, path);
      };
      const ratio = await timeRatio(ask(25_000), ask(200_000), 30);
      ok(ratio < 30, `${of.toString()}: eight times as much took ${ratio.toFixed(0)} times as long`);
    }
    deepStrictEqual(
      [await asked('*.log', 'a.log'), await asked(`*${'a'.repeat(2_000)}b`, 'a'.repeat(4_000)), await asked('*.log', 'a.txt')],
      [true, true, false],
    );
    const tooLarge = new GitIgnore(async (name) => (name === 'sub/.gitignore' ? null : undefined));
    deepStrictEqual([await tooLarge.ignores('sub/a', false), await tooLarge.ignores('a', false)], [true, false]);
  });

  it('know what looks like a secret', () => {
    const secret = [
      '.env',
      'app/.env.local',
      '.ENV',
      '.env_prod',
      '.env-staging',
      'prod.env',
      '.envrc',
      '.flaskenv',
      '.dev.vars',
      '.dev.vars.production',
      'server.pem',
      'tls.key',
      'a.p8',
      'a.p12',
      'a.pfx',
      'a.jks',
      'a.keystore',
      'a.kdbx',
      'a.ppk',
      'a.asc',
      'a.gpg',
      'id_rsa',
      'keys/id_ed25519',
      'id_ecdsa_sk',
      'ssh_host_rsa_key',
      'credentials',
      'credentials.csv',
      '.aws/config',
      '.aws/credentials',
      'home/.ssh/known_hosts',
      '.git/config',
      '.gnupg/x',
      '.kube/config',
      '.docker/config.json',
      '.azure/x',
      '.password-store/x.gpg',
      'secrets.yaml',
      'secret.json',
      'db.secrets',
      'prod-secrets.yaml',
      'terraform.tfstate',
      'terraform.tfstate.backup',
      'prod.tfvars',
      'prod.auto.tfvars.json',
      '.npmrc',
      '.yarnrc.yml',
      '.pypirc',
      '.netrc',
      '_netrc',
      '.git-credentials',
      '.pgpass',
      '.my.cnf',
      '.htpasswd',
      'service-account-prod.json',
      'gcp-credentials.json',
      'client_secret_123.apps.googleusercontent.com.json',
      'app-firebase-adminsdk-x1.json',
      '.config/gh/hosts.yml',
      '.config/gcloud/credentials.db',
      '.m2/settings.xml',
      '.m2/settings-security.xml',
      '.gradle/gradle.properties',
      '.cargo/credentials.toml',
      'appsettings.json',
      'appsettings.Development.json',
      'local.settings.json',
      'wp-config.php',
      'local_settings.py',
      '.bash_history',
      '.zsh_history',
      '.python_history',
      '.psql_history',
      '.node_repl_history',
      'fish_history',
      'wallet.dat',
      'UTC--2020--abc',
      'kubeconfig',
      'prod.kubeconfig',
      'kubeconfig-prod.yaml',
      'passwords.txt',
      'password.txt',
      'PASSWORDS.TXT',
      'my-passwords.csv',
      'passwords',
      'passwd',
      'token.txt',
      'github_token.txt',
      'token.json',
      'token.pickle',
      'access-token.json',
      '.token',
      'api_key.txt',
      'apikeys.yml',
      'openai-api-key.txt',
      'private_key.txt',
      'seed-phrase.txt',
      'recovery-codes.txt',
      'mnemonic.txt',
      'master.key',
      '.vault-token',
      'vault_pass.txt',
      '.vault_pass',
      '.s3cfg',
      '.boto',
      'rclone.conf',
      '.terraformrc',
      '.vscode/sftp.json',
      '.idea/dataSources.xml',
      'sftp-config.json',
      'Login Data',
      'logins.json',
      'key4.db',
      'cookies.sqlite',
      'auth.json',
      '.codex/auth.json',
      '.claude/.credentials.json',
      'accessKeys.csv',
      'rootkey.csv',
      'trace.har',
      '.e\u200bnv',
    ];
    const plain = [
      '.env.example',
      '.env.sample',
      'example.env',
      'env.example',
      'src/env.ts',
      'id_rsa.pub',
      'environment.md',
      'secretary.txt',
      'src/credentialsForm.tsx',
      '.gitignore',
      'keys.ts',
      'config.json',
      'tokenizer.ts',
      'tokenizer.json',
      'tokens.json',
      'design-tokens.json',
      'tokens.css',
      'src/token.ts',
      'token.go',
      'docs/token.md',
      'password-reset.md',
      'src/password.ts',
      'passwordField.tsx',
      'password_reset.html',
      'keyboard.ts',
      'keyboard.json',
      'monkey.txt',
      'hotkeys.yml',
      'key.ts',
      'settings.xml',
      'hosts.yml',
      'settings.json',
      'appsettings.ts',
      'appSettings.schema.json',
      'appsettings.example.json',
      'secrets.example.yaml',
      'credentials.sample.json',
      'secretManager.ts',
      'authToken.ts',
      'auth.ts',
      'history.md',
      'src/history.ts',
      'wallet.ts',
      'Wallet.sol',
      'package.json',
      'public.txt',
      'database.yml',
      'certificate.crt',
      'cookies.ts',
      'passport.js',
      'compass.txt',
      'bypass.yml',
      'tokenization.csv',
      'src/secret-santa.ts',
      'api.md',
      'apikey.ts',
      'environment.prod.yml',
      'harbor.yml',
    ];
    deepStrictEqual([secret.filter((path) => !looksSecret(path)), plain.filter((path) => looksSecret(path))], [[], []]);
    deepStrictEqual(
      ['src/password', 'src/token', 'src/auth', 'src/app'].filter((path) => looksSecret(path, true)),
      [],
      'folders of sources',
    );
  });

  it('leave nothing of a pattern out of the count of steps', () => {
    const steps = { left: 1_000 };
    strictEqual(globMatcher(`[${'z'.repeat(5_000)}]`)('a', steps), false);
    ok(steps.left < 0);
  });
});

describe('pages of a file', () => {
  it('are whole lines with numbers, and say where they end', () => {
    deepStrictEqual(pageText('a\r\nb\nc', 2), { text: '2\tb\n3\tc', first: 2, last: 3, total: 3, cutLines: [] });
    deepStrictEqual(pageText('', 1), { text: '', first: 1, last: 0, total: 0, cutLines: [] });
    deepStrictEqual([pageText('a\n', 2), pageText('a', 0)], [undefined, undefined]);
    strictEqual(pageText('x'.repeat(100_000))!.text.length, 2_003);
  });

  it('show every line once, one page after the other', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ maxLength: 3_000 }).map((line) => line.replace(/[\r\n]/g, ' ')),
          { minLength: 1, maxLength: 60 },
        ),
        (lines) => {
          const text = `${lines.join('\n')}\n`;
          const seen: number[] = [];
          for (let start = 1; start <= lines.length; ) {
            const page = pageText(text, start)!;
            for (let i = page.first; i <= page.last; i++) seen.push(i);
            start = page.last + 1;
          }
          deepStrictEqual(
            seen,
            lines.map((_, i) => i + 1),
          );
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('edits of a text', () => {
  it('replace what stands once, and leave everything else as it is', () => {
    deepStrictEqual(editText('one\ntwo\nthree', 'two', '2'), { text: 'one\n2\nthree', lines: [2] });
    deepStrictEqual(editText('one\r\ntwo\r\nthree', 'one\ntwo', 'eins\nzwei'), { text: 'eins\r\nzwei\r\nthree', lines: [1] });
    deepStrictEqual(editText('a\r\nb', 'b', 'b\nc').text, 'a\r\nb\r\nc');
    deepStrictEqual(editText('a\nb\n', 'b', 'x\r\ny').text, 'a\nx\ny\n');
    deepStrictEqual(editText('mixed\r\nline\nends', 'line', 'a\nb').text, 'mixed\r\na\nb\nends');
    deepStrictEqual(editText('x x x', 'x', 'y', true), { text: 'y y y', lines: [1, 1, 1] });
    deepStrictEqual(editText('cost: $& $1', 'cost', '$`price$&').text, '$`price$&: $& $1');
  });

  it('take the line ends of the file as one, wherever the passage begins', () => {
    const text = 'a\r\nfoo\r\nb\r\n';
    deepStrictEqual(
      [
        editText(text, '\nfoo', ''),
        editText(text, '\nfoo', '\nbar'),
        editText(text, '\r\nfoo', '\nbar'),
        editText(text, 'foo\r\nb', 'bar'),
        editText(text, '\n', '\n\n', true),
        editText('foo\nfoo', '\r\nfoo', ''),
      ],
      [
        { text: 'a\r\nb\r\n', lines: [1] },
        { text: 'a\r\nbar\r\nb\r\n', lines: [1] },
        { text: 'a\r\nbar\r\nb\r\n', lines: [1] },
        { text: 'a\r\nbar\r\n', lines: [2] },
        { text: 'a\r\n\r\nfoo\r\n\r\nb\r\n\r\n', lines: [1, 2, 3] },
        { text: 'foo', lines: [1] },
      ],
    );
    throws(() => editText(text, '\n', ''), /stands 3 times in the file \(lines 1, 2, 3\)/);
    throws(() => editText(text, '\nbar', ''), /does not stand in the file/);
  });

  it('are refused in words where it is not clear what is meant', () => {
    throws(() => editText('a a\na', 'a', 'b'), /stands 3 times in the file \(lines 1, 1, 2\)/);
    throws(() => editText('a', 'b', 'c'), /does not stand in the file/);
    throws(() => editText('a', '', 'c'), /old_text is empty/);
    throws(() => editText('a', 'a', 'a'), /the same/);
  });

  it('change nothing outside of the passage', () => {
    fc.assert(
      fc.property(fc.string(), fc.stringMatching(/^[A-Z]{3,6}$/), fc.string(), fc.string(), (head, unique, tail, after) => {
        fc.pre(
          !`${head}|${tail}`.includes(unique) &&
            after !== unique &&
            !/[\r\n]/.test(after) &&
            // One that overlaps with it, as AAA in xAAAA, would be another place.
            (head + unique + tail).indexOf(unique) === head.length &&
            (head + unique + tail).lastIndexOf(unique) === head.length,
        );
        strictEqual(editText(head + unique + tail, unique, after).text, head + after + tail);
      }),
    );
  });

  it('are told to the editor as the lines that differ', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', ''), { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const { start, end } = changedRange(a, b);
        strictEqual(a.slice(0, start) + b.slice(start, b.length - end) + a.slice(a.length - end), b);
        ok(start === 0 || a[start - 1] === '\n');
        const [before, after] = [a.slice(start, a.length - end), b.slice(start, b.length - end)].map(
          (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [],
        );
        if (before!.length > 0 && after!.length > 0) ok(before![0] !== after![0] && before!.at(-1) !== after!.at(-1), 'no line too many');
      }),
      { numRuns: 2_000 },
    );
  });
});
