// Builds everything that ships and, with --tests, everything that tests it.
//   node esbuild.mjs [--production] [--tests] [--watch]
import { build, context, transform } from 'esbuild';
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { proveWasmImports } from './src/node/store/wasmImports.mjs';

const require = createRequire(import.meta.url);
const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');
const tests = process.argv.includes('--tests');

/** @type {import('esbuild').BuildOptions} */
const shared = {
  bundle: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  legalComments: 'none',
  logLevel: 'warning',
};

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
 * esbuild splits only ES modules, and VS Code 1.100 loads CommonJS from a require: each chunk is turned into CommonJS when all are
 * known. Without it every window would compile what only a conversation needs (the SDK alone is 415 KB), where nobody has opened the view.
 * @type {import('esbuild').Plugin}
 */
const commonJsChunks = {
  name: 'commonjs-chunks',
  setup({ initialOptions, onEnd }) {
    onEnd(async ({ outputFiles = [] }) => {
      for (const { path, text } of outputFiles) {
        if (path.endsWith('.map')) await writeFile(path, text);
        else await writeFile(path, (await transform(text, { format: 'cjs', platform: 'node', target: 'node20', minify: initialOptions.minify, sourcefile: path, sourcemap: initialOptions.sourcemap && 'inline' })).code);
      }
    });
  },
};

const builds = [
  {
    ...node,
    entryPoints: { extension: 'src/extension.ts' },
    outdir: 'dist',
    external: ['vscode'],
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    write: false,
    plugins: [commonJsChunks],
  },
  // Built without `vscode` as an external: an import of it from core, protocol or node fails the build.
  {
    ...node,
    entryPoints: {
      storeWorker: 'src/node/store/storeWorker.ts',
      storeTaskWorker: 'src/node/store/storeTaskWorker.ts',
      tokenWorker: 'src/node/tokens/tokenWorker.ts',
      analystWorker: 'src/node/analysis/analystWorker.ts',
      cli: 'src/node/cli.ts',
    },
    outdir: 'dist',
  },
  {
    ...shared,
    platform: 'browser',
    format: 'iife',
    target: 'chrome128',
    entryPoints: { main: 'webview-ui/main.ts', panels: 'webview-ui/panels.ts' },
    outdir: 'dist/webview',
  },
];

if (tests) {
  builds.push({
    ...node,
    minify: false,
    sourcemap: 'inline',
    entryPoints: await testFiles('test'),
    outbase: 'test',
    outdir: 'dist/test',
    external: ['vscode', 'playwright-core', 'fast-check', 'mocha', '@vscode/test-electron', '@vscode/vsce', 'axe-core', 'esbuild', 'typescript'],
  });
}

if (!watch) await rm('dist', { recursive: true, force: true });
await mkdir('dist', { recursive: true });
await copyFile(require.resolve('sql.js/dist/sql-wasm.wasm'), 'dist/sql-wasm.wasm');

if (watch) {
  for (const options of builds) await (await context(options)).watch();
} else {
  await Promise.all(builds.map((options) => build(options)));
}
