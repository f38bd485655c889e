import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { redactedHead, redactSecrets, redactText, redactValue } from '../../../src/core/redaction/redactText';
import { projectRoot } from '../../support/paths';
import { harmlessTexts } from './harmlessTexts';
import { homes, secretCorpus } from './secretCorpus';

describe('redaction', () => {
  it('leaves no secret of the corpus', () => {
    assert.ok(secretCorpus.length >= 150, String(secretCorpus.length));
    const left = secretCorpus.flatMap(({ kind, text, secrets }) => {
      const safe = redactSecrets(text);
      return secrets.some((secret) => safe.includes(secret)) ? [`${kind}: ${text} -> ${safe}`] : [];
    });
    assert.deepEqual(left, []);
  });

  it('leaves no secret of the corpus in a JSON text, in the middle of a line, and when done twice', () => {
    const left = secretCorpus.flatMap(({ kind, text, secrets }) => {
      const quoted = JSON.stringify({ text: `Look: ${text}` });
      const once = redactSecrets(quoted);
      assert.equal(redactSecrets(redactText(text)), redactText(text), kind);
      return secrets.some((secret) => once.includes(JSON.stringify(secret).slice(1, -1))) ? [`${kind}: ${quoted} -> ${once}`] : [];
    });
    assert.deepEqual(left, []);
  });

  it('leaves no name of a home folder', () => {
    assert.deepEqual(
      homes.filter((home) => /ada/.test(redactText(`in ${home}`)) || /ada/.test(redactText(home))),
      [],
    );
  });

  it('takes less than a hundredth of what is harmless', () => {
    const whole = harmlessTexts.filter((text) => redactSecrets(text) !== text).map((text) => `${text} -> ${redactSecrets(text)}`);
    assert.ok(harmlessTexts.length >= 100, String(harmlessTexts.length));
    assert.ok(whole.length < harmlessTexts.length / 100, whole.join('\n'));
    let lines = 0;
    const taken: string[] = [];
    for (const text of programTexts()) {
      for (const line of text.split('\n')) {
        lines++;
        if (redactText(line) !== line) taken.push(line);
      }
    }
    assert.ok(lines > 20_000, String(lines));
    assert.ok(taken.length < lines / 500, `${taken.length} of ${lines} lines:\n${taken.slice(0, 30).join('\n')}`);
  });

  it('goes by the names in a JSON value, of whatever its values look like', () => {
    const value = {
      awsSecretAccessKey: 'x',
      dbPassword: 'y',
      'x-api-key': 'z',
      tokens: 12,
      token: 7,
      secrets: { note: 'n' },
      apiKey: ['a', 'b'],
      env: [
        { name: 'DB_PASSWORD', value: 'q' },
        { name: 'PORT', value: 'p' },
      ],
      args: ['--user', 'ada', '--password', 'hunter', '--token', '--max-tokens', '12'],
      cwd: '/home/ada',
    };
    const hidden = '[secret]';
    assert.deepEqual(redactValue(value), {
      ...value,
      awsSecretAccessKey: hidden,
      dbPassword: hidden,
      'x-api-key': hidden,
      apiKey: [hidden, hidden],
      env: [
        { name: 'DB_PASSWORD', value: hidden },
        { name: 'PORT', value: 'p' },
      ],
      args: ['--user', 'ada', '--password', hidden, '--token', '--max-tokens', '12'],
      cwd: '/home/user',
    });
  });

  it('takes out all that stands under such a name, numbers too, and home folders in names', () => {
    const value = { password: 12345678, secret: { text: 'hunter2hunter', pin: 4711 }, tokens: 12345, '/home/ada/notes.md': { version: 1 } };
    assert.deepEqual(redactValue(value), {
      password: '[secret]',
      secret: { text: '[secret]', pin: '[secret]' },
      tokens: 12345,
      '/home/user/notes.md': { version: 1 },
    });
  });

  it('takes out what it is told, whatever that looks like', () => {
    assert.equal(redactSecrets('the harbourmaster9817 is on the quay', ['harbourmaster9817', 'quay']), 'the [secret] is on the quay');
  });

  it('bares no half of a secret where a text is cut', () => {
    // What says that it is one stands behind a password for `sudo -S`, and a phrase by itself is known by the number of its words.
    for (const { kind, text, secrets } of secretCorpus.filter((one) => !['sudo -S', 'recovery phrase'].includes(one.kind))) {
      for (const longest of [40, 600]) {
        const read = longest * 8 + 4_000;
        for (let before = Math.max(20, read - text.length); before <= read; before += 7) {
          // What stands before it is taken out whole, so that the end of what was read is shown.
          const shown = redactedHead(`password: "${'tide'.repeat(before).slice(0, before - 12)}"${text}`, longest);
          assert.ok(shown.length <= longest);
          for (const secret of secrets)
            assert.ok(secret.length < 12 || !shown.includes(secret.slice(0, 12)) || /^\$2b/.test(secret), `${kind}: ${shown}`);
        }
      }
    }
  });
});

/** Code, documents, and the hashes of a lock file; not the tests, which are full of invented keys. */
function* programTexts(): Generator<string> {
  for (const folder of ['src', 'docs', 'webview-ui', 'l10n']) {
    for (const entry of readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (
        entry.isFile() &&
        ['.ts', '.md', '.css', '.json'].includes(extname(file)) &&
        !file.includes('redaction') &&
        !file.includes('node_modules')
      )
        yield readFileSync(file, 'utf8');
    }
  }
  for (const file of ['package-lock.json', 'package.json', 'CHANGELOG.md', 'README.md', 'eslint.config.mjs'])
    yield readFileSync(join(projectRoot, file), 'utf8');
}
