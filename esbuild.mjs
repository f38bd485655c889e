// Builds everything that ships and, with --tests, everything that tests it.
//   node esbuild.mjs [--production] [--tests] [--check] [--watch] [--run SUITE … [FILE …] [--grep PATTERN]]
// --check has the types checked and the code linted beside it, which takes one core for longer than all of the build.
// --run builds the tests and runs them; with names of files only those are built, and with --watch they run again at every change.
import { build, context, transform } from 'esbuild';
import { spawn } from 'node:child_process';
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { proveWasmImports } from './src/node/store/wasm/wasmImports.mjs';

const require = createRequire(import.meta.url);
const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');
const runAt = process.argv.indexOf('--run');
const runArgs = runAt === -1 ? [] : process.argv.slice(runAt + 1).filter((arg) => arg !== '--watch');
const tests = process.argv.includes('--tests') || runAt !== -1;
/** What tests are named on the command line, as the runner takes them: parts of paths below `test`. */
const grepAt = runArgs.indexOf('--grep');
const named = runArgs
  .filter((arg, index) => !/^(unit|webview|vscode|desktop|agents)$/.test(arg) && (grepAt === -1 || index < grepAt || index > grepAt + 1))
  .map((name) => name.replace(/\.ts$/, '').replace(/^.*\btest\//, ''));

/** @type {import('esbuild').BuildOptions} */
const shared = { bundle: true, minify: production, sourcemap: production ? false : 'linked', legalComments: 'none', logLevel: 'warning' };

/** Everything that runs in Node: VS Code 1.100 ships Node 20. */
const node = {
  ...shared,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  define: { SQLJS_WASM: JSON.stringify(await proveWasmImports()) },
};

async function testFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((e) => e.isFile() && e.name.endsWith('.ts')).map((e) => join(e.parentPath ?? e.path, e.name));
}

/**
 * Code that several entries share, or that is imported when it is needed, in files of its own. esbuild splits only ES modules, and the
 * extension is loaded with `require`: so each file is turned into CommonJS when all are made.
 * @type {import('esbuild').BuildOptions}
 */
const commonJsChunks = {
  format: 'esm',
  splitting: true,
  chunkNames: '[name]-[hash]',
  // In the text, where the second step finds it.
  sourcemap: shared.sourcemap && 'inline',
  write: false,
  plugins: [
    {
      name: 'commonjs-chunks',
      setup({ initialOptions, onEnd }) {
        const { minify, sourcemap } = initialOptions;
        const toCommonJs = /** @type {const} */ ({
          format: 'cjs',
          platform: 'node',
          target: 'node20',
          minify,
          sourcemap: sourcemap ? 'external' : false,
          // Node's `import()` of such a file parses it once more, in JavaScript, to find what it exports: 0.1 s for half a megabyte.
          supported: { 'dynamic-import': false },
        });
        onEnd(async ({ outputFiles = [] }) => {
          for (const { path, text } of outputFiles) {
            const { code, map } = await transform(text, { ...toCommonJs, sourcefile: path });
            await mkdir(dirname(path), { recursive: true });
            await writeFile(path, map ? `${code}//# sourceMappingURL=${basename(path)}.map\n` : code);
            if (map) await writeFile(`${path}.map`, map);
          }
        });
      },
    },
  ],
};

/** The command line and the workers run where there is no `vscode`: an import of it fails the build. */
const withoutVscode = {
  name: 'without-vscode',
  setup({ onResolve }) {
    onResolve({ filter: /^vscode$/ }, ({ importer }) =>
      /[\\/]src[\\/](core|node|protocol)[\\/]/.test(importer) ? { errors: [{ text: `${importer} imports vscode` }] } : null,
    );
  },
};

const builds = [
  {
    ...node,
    entryPoints: {
      extension: 'src/extension.ts',
      // What the command line shares with the extension is packed once: 0.4 MB of 4.
      cli: 'src/node/cli.ts',
      // The SDK is read by those who serve, not by every command.
      mcp: 'src/node/mcp/serveMcp.ts',
      // The client of a database is loaded when a history is synchronized over one.
      postgresEngine: 'src/node/sync/postgresEngine.ts',
    },
    outdir: 'dist',
    external: ['vscode'],
    // A window in which nobody opens the view compiles some 40 KB of 1.25 MB.
    ...commonJsChunks,
    plugins: [withoutVscode, ...commonJsChunks.plugins],
  },
  // Built without `vscode` as an external: an import of it from core, protocol or node fails the build.
  {
    ...node,
    entryPoints: {
      storeWorker: 'src/node/store/owner/storeWorker.ts',
      storeTaskWorker: 'src/node/store/owner/storeTaskWorker.ts',
      tokenWorker: 'src/node/tokens/tokenWorker.ts',
      analystWorker: 'src/node/analysis/analystWorker.ts',
      syncWorker: 'src/node/sync/syncWorker.ts',
    },
    outdir: 'dist',
  },
  {
    ...shared,
    platform: 'browser',
    format: 'iife',
    target: 'chrome128',
    entryPoints: { main: 'webview-ui/main.ts', panels: 'webview-ui/panels.ts', math: 'webview-ui/math.ts' },
    outdir: 'dist/webview',
  },
];

/** The rest is for tests. */
const shipped = builds.length;

/** The packages that have code in what was built. */
function packagesIn(/** @type {readonly import('esbuild').BuildResult[]} */ results) {
  const inputs = results
    .flatMap(({ metafile }) => Object.values(metafile?.outputs ?? {}))
    .flatMap((output) => Object.entries(output.inputs));
  const names = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}

if (tests) {
  const isWanted = (/** @type {string} */ file) =>
    !file.endsWith('.test.ts') || named.length === 0 || named.some((name) => file.replaceAll('\\', '/').includes(name));
  const isNeeded = (/** @type {string} */ file) => isWanted(file) && (named.length === 0 || !/^test.bench/.test(file));
  const files = (await testFiles('test')).filter(isNeeded);
  const standsAlone = (/** @type {string} */ file) => /^test.(unit.store|webview.support.fake|support.vscode.acmeExtension)/.test(file);
  const test = {
    ...node,
    minify: false,
    sourcemap: 'inline',
    outbase: 'test',
    outdir: 'dist/test',
    external: [
      'vscode',
      'playwright-core',
      'fast-check',
      'mocha',
      '@vscode/test-electron',
      '@vscode/vsce',
      'axe-core',
      'esbuild',
      '@electric-sql/pglite',
    ],
  };
  // What tests share is built once; each a bundle of its own came to 540 MB. Those of the store stay apart: SQLite is loaded once per
  // module, and they give it disks that fail. The fake hosts are scripts of a page, and one is an extension.
  builds.push(
    { ...test, ...commonJsChunks, entryPoints: files.filter((file) => !standsAlone(file)) },
    { ...test, entryPoints: files.filter(standsAlone) },
  );
}

await mkdir('dist', { recursive: true });
// What ships has the files of this build only: a chunk's name changes with what is in it. Tests that are not built now may be wanted again.
const leftovers = watch ? [] : (await readdir('dist')).filter((name) => name !== 'test' || named.length === 0);
for (const name of leftovers) await rm(join('dist', name), { recursive: true, force: true });
await copyFile(require.resolve('sql.js/dist/sql-wasm.wasm'), 'dist/sql-wasm.wasm');

/** Whether a script of package.json ends well. */
function succeeds(/** @type {string} */ script) {
  const child = spawn('npm', ['run', script], { stdio: 'inherit', shell: process.platform === 'win32' });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0)));
}

function runTests() {
  const child = spawn(process.execPath, ['dist/test/support/run/runSuites.js', ...runArgs], {
    stdio: 'inherit',
    // `npm test` keeps none.
    env: { ...process.env, THREADKEEPER_PICTURES: '1' },
  });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

if (watch) {
  let building = builds.length;
  let isRunning = false;
  let isStale = false;
  /** Runs the tests when no build is under way, and once more for what was built meanwhile. */
  const built = async () => {
    isStale = true;
    if (isRunning || building > 0 || runAt === -1) return;
    isRunning = true;
    while (isStale && building === 0) {
      isStale = false;
      await runTests();
    }
    isRunning = false;
  };
  const notice = {
    name: 'notice',
    setup({ onStart, onEnd }) {
      let isFirst = true;
      onStart(() => void (isFirst ? (isFirst = false) : building++));
      onEnd(() => {
        building--;
        void built();
      });
    },
  };
  for (const options of builds) await (await context({ ...options, plugins: [...(options.plugins ?? []), notice] })).watch();
} else {
  const checks = process.argv.includes('--check') ? ['typecheck', 'lint'].map(succeeds) : [];
  const made = await Promise.all(builds.map((options) => build({ ...options, metafile: true })));
  await writeFile('dist/packages.json', JSON.stringify(packagesIn(made.slice(0, shipped)), null, 2));
  if ((await Promise.all(checks)).includes(false)) process.exitCode = 1;
  if (runAt !== -1) process.exitCode = await runTests();
}
