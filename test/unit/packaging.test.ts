import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFiles, PackageManager } from '@vscode/vsce';
import { packExtension } from '../support/vscode/packedExtension';
import { projectRoot } from '../support/paths';
import { packagedReadme } from '../support/run/packagedReadme';
import { notices, noticesFile } from '../support/source/notices';

describe('the package', function () {
  this.timeout(120_000);

  it('holds everything that is built and what the manifest names, and nothing else', async () => {
    const dist = join(projectRoot, 'dist');
    const built = [
      ...(await readdir(dist)).filter((name) => /\.(js|wasm)$/.test(name)).map((name) => `dist/${name}`),
      ...(await readdir(join(dist, 'webview'))).filter((name) => !name.endsWith('.map')).map((name) => `dist/webview/${name}`),
    ];
    const walkthrough = (await readdir(join(projectRoot, 'media', 'walkthrough'))).map((name) => `media/walkthrough/${name}`);
    const strings = (await readdir(projectRoot)).filter((name) => /^package\.nls(\..+)?\.json$/.test(name));
    const bundles = (await readdir(join(projectRoot, 'l10n')).catch(() => [])).map((name) => `l10n/${name}`);
    const files = await listFiles({ cwd: projectRoot, packageManager: PackageManager.None });
    assert.deepEqual(
      files.map((file) => file.replaceAll('\\', '/')).sort(),
      [
        ...built,
        ...walkthrough,
        ...strings,
        ...bundles,
        'package.json',
        'README.md',
        'CHANGELOG.md',
        'LICENSE',
        'ThirdPartyNotices.txt',
        'media/icon.png',
        'media/threadkeeper.svg',
        'media/tab-running.svg',
        'media/tab-waiting.svg',
        'media/summary.tmLanguage.json',
      ].sort(),
    );
    for (const name of [
      'extension.js',
      'cli.js',
      'storeWorker.js',
      'storeTaskWorker.js',
      'syncWorker.js',
      'tokenWorker.js',
      'analystWorker.js',
      'postgresEngine.js',
      'sql-wasm.wasm',
      'webview/main.js',
      'webview/main.css',
      'webview/math.js',
    ]) {
      assert.ok(
        files.some((file) => file.replaceAll('\\', '/') === `dist/${name}`),
        `${name} is packed`,
      );
    }
  });

  it('has the licence of every package that has code in it, as `npm run docs` writes them', async () => {
    assert.equal(await readFile(noticesFile, 'utf8'), await notices());
  });

  it('has a README without pictures and pages that only the repository has', async () => {
    const readme = packagedReadme(await readFile(join(projectRoot, 'README.md'), 'utf8'));
    assert.deepEqual(
      { sections: [...readme.matchAll(/^## (.*)/gm)].map(([, title]) => title), left: readme.match(/!\[|\]\((?!https:)|docs\/|npm /g) },
      { sections: ['Why take it', 'Beside others', 'Keyboard', 'Settings', 'Privacy', 'Without VS Code', 'Licence'], left: null },
    );
  });

  const dist = join(projectRoot, 'dist');
  const read = (name: string) => readFile(join(dist, name), 'utf8');
  /** An `import()`, as it stands in the bundle. */
  const later = /\.then\(\(\) ?=> ?[\w$]+\(require\("\.\/([^"]+)"\)\)/g;
  /** A bundle and all that is loaded with it, by their names. */
  const loadedWith = async (name: string, loaded = new Map<string, string>()): Promise<Map<string, string>> => {
    if (loaded.has(name)) return loaded;
    loaded.set(name, await read(name));
    for (const [, next = ''] of (loaded.get(name) ?? '').replace(later, '').matchAll(/\brequire\("\.\/([^"]+)"\)/g))
      await loadedWith(next, loaded);
    return loaded;
  };

  it('loads nothing of synchronizing with what views and commands need', async () => {
    const found = [...(await read('extension.js')).matchAll(later)].map(([, name = '']) => name);
    const composition = found.find((name) => name.startsWith('composition-')) ?? assert.fail(found.join());
    const loaded = await loadedWith(composition);
    for (const mark of ['threadkeeper.sync.lastKey', 'syncWorker.js', 'I Have Written It Down'])
      assert.deepEqual(
        [...loaded].filter(([, text]) => text.includes(mark)).map(([name]) => name),
        [],
        mark,
      );
  });

  it('loads at the start only what registers, and leaves the rest for when somebody looks or chats', async () => {
    const atStart = await loadedWith('extension.js');
    const others = (await readdir(dist)).filter((name) => name.endsWith('.js') && !atStart.has(name));
    // Of the SDK, the store, the runtime, zod.
    for (const mark of ['x-stainless-retry-count', 'BEGIN IMMEDIATE', 'storeWorker.js', 'safeParseAsync']) {
      const holders = (texts: readonly string[]) => texts.filter((text) => text.toLowerCase().includes(mark.toLowerCase())).length;
      assert.equal(holders([...atStart.values()]), 0, `${mark} is loaded at the start, of ${[...atStart.keys()].join(', ')}`);
      assert.notEqual(holders(await Promise.all(others.map(read))), 0, `nothing has ${mark}: it marks nothing any more`);
    }
  });

  it('is the same, byte for byte, each time, in every time zone and with every umask, and no larger than 4 MB', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-package-'));
    const { TZ } = process.env;
    const icon = join(projectRoot, 'media', 'icon.png');
    const { mode } = await stat(icon);
    try {
      process.env['TZ'] = 'UTC';
      const first = await packExtension(join(folder, 'first.vsix'));
      process.env['TZ'] = 'Asia/Tokyo';
      await chmod(icon, 0o664);
      const second = await packExtension(join(folder, 'second.vsix'));
      assert.ok((await readFile(first)).equals(await readFile(second)));
      assert.ok((await stat(first)).size <= 4_000_000, `${(await stat(first)).size} bytes`);
    } finally {
      await chmod(icon, mode);
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
      await rm(folder, { recursive: true, force: true });
    }
  });
});
