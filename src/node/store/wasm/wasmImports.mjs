// Build step: which letter of the shipped sql-wasm.wasm is which system call.
//
// The shipped build has minified import names; the debug build of the same package has the real ones. The law the mapping
// rests on: Emscripten lists the import object in alphabetical order of the real names, in both builds, and minifying renames
// the keys without moving them. The wasm's own import section is no help, the linker orders it freely. Nothing is believed:
//  1. the debug build's list is in alphabetical order,
//  2. name by name the type signatures of both wasm files agree,
//  3. the same SQL makes both builds issue the same calls, in the same order, with the same results.
// Any disagreement fails the build.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Imports that only one of the two builds has: stack checks and 64-bit clocks in debug, exit and alarm in the shipped one. */
const debugOnly = ['__handle_stack_overflow', 'clock_time_get'];
const releaseOnly = { _emscripten_runtime_keepalive_clear: '->', _setitimer_js: 'i32,f64->i32', proc_exit: 'i32->' };

/** What the bridge replaces; each must be seen at work in step 3 unless SQLite calls it only on systems we cannot imitate. */
const bridged = [
  '__syscall_openat',
  '__syscall_stat64',
  '__syscall_lstat64',
  '__syscall_fstat64',
  '__syscall_ftruncate64',
  '__syscall_unlinkat',
  '__syscall_faccessat',
  '__syscall_fcntl64',
  '__syscall_fchmod',
  '__syscall_fchown32',
  'fd_read',
  'fd_write',
  'fd_seek',
  'fd_sync',
  'fd_close',
];

const scenario = [
  'PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(a, b);',
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO t SELECT i, zeroblob(9000) FROM n;',
  'PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM t WHERE a > 100; PRAGMA journal_mode=DELETE; PRAGMA locking_mode=NORMAL;',
  'INSERT INTO t VALUES (1, 2); VACUUM; BEGIN; INSERT INTO t VALUES (3, 4); ROLLBACK;',
  'PRAGMA temp_store=FILE; PRAGMA cache_size=2; CREATE TEMP TABLE u AS SELECT a, hex(b) AS h FROM t; CREATE INDEX temp.i ON u(h, a);',
];

/**
 * @param {(file: string) => Uint8Array} read the wasm files of the package
 * @returns {Promise<{ sha256: string, names: Record<string, string> }>} real name → name in the shipped build. Throws when anything does
 * not add up.
 */
export async function proveWasmImports(read = wasmBytes) {
  const shipped = read('sql-wasm.wasm');
  const release = signatures(shipped);
  const debug = signatures(read('sql-wasm-debug.wasm'));
  const keys = await importKeys('sql-wasm');
  const debugKeys = await importKeys('sql-wasm-debug');

  check(String(debugKeys) === String([...debugKeys].sort()), 'the debug build does not list its imports alphabetically');
  check(String([...debug.keys()].sort()) === String(debugKeys), 'the debug build imports something it does not list');
  const expected = [...debugKeys.filter((name) => !debugOnly.includes(name)), ...Object.keys(releaseOnly)].sort();
  check(keys.length === expected.length && release.size === keys.length, `${keys.length} imports, ${expected.length} expected`);

  const names = Object.fromEntries(expected.map((name, i) => [name, keys[i]]));
  for (const name of expected) {
    const wanted = debug.get(name) ?? releaseOnly[name];
    check(release.get(names[name]) === wanted, `${name} has the signature ${release.get(names[name])}, expected ${wanted}`);
  }

  const realName = Object.fromEntries(expected.map((name) => [names[name], name]));
  const seen = await trace('sql-wasm', shipped, (key) => realName[key]).catch((error) =>
    check(false, `SQLite does not work with it: ${error.message ?? error}`),
  );
  const wanted = await trace('sql-wasm-debug', read('sql-wasm-debug.wasm'), (key) => key);
  const difference = seen.findIndex((call, i) => call !== wanted[i]);
  check(
    difference < 0 && seen.length === wanted.length,
    `call ${difference} is ${seen[difference]}, in the debug build ${wanted[difference]}`,
  );
  for (const name of bridged)
    check(
      seen.some((call) => call.startsWith(`${name} `)),
      `${name} was never called`,
    );

  return { sha256: createHash('sha256').update(shipped).digest('hex'), names };
}

function check(condition, problem) {
  if (!condition)
    throw new Error(
      `sql.js: the imports of sql-wasm.wasm cannot be told apart: ${problem}. Install the version that package.json names, or prove another one.`,
    );
}

function wasmBytes(file) {
  return readFileSync(require.resolve(`sql.js/dist/${file}`));
}

/** A fresh copy of the glue code: it remembers its first initialisation. */
function glue(build) {
  const file = require.resolve(`sql.js/dist/${build}.js`);
  delete require.cache[file];
  return require(file);
}

function importKeys(build) {
  return new Promise((resolve, reject) => {
    const instantiateWasm = (info) => (resolve(Object.keys(Object.values(info)[0])), {});
    glue(build)({ instantiateWasm }).catch(reject);
  });
}

/** Every call as `name arguments result`; clocks and memory growth are left out, they depend on the machine and the build. */
async function trace(build, bytes, realName) {
  const calls = [];
  let recording = false;
  const record =
    (name, call) =>
    (...args) => {
      const result = call(...args);
      if (recording && !/^(emscripten_|clock_)/.test(name)) {
        calls.push(`${name} ${args.length} ${typeof result === 'number' && Math.abs(result) < 100 ? result : typeof result}`);
      }
      return result;
    };
  const sql = await new Promise((resolve, reject) => {
    const instantiateWasm = (info, done) => {
      const imports = {};
      for (const [module, functions] of Object.entries(info)) {
        imports[module] = Object.fromEntries(Object.entries(functions).map(([key, call]) => [key, record(realName(key), call)]));
      }
      try {
        done(new WebAssembly.Instance(new WebAssembly.Module(bytes), imports));
      } catch (error) {
        // Thrown here it would be logged and the initialisation would hang.
        reject(error);
      }
      return {};
    };
    glue(build)({ instantiateWasm }).then(resolve, reject);
  });
  recording = true;
  const database = new sql.Database(new Uint8Array(0));
  for (const step of scenario) database.run(step);
  database.close();
  return calls;
}

/** Import name → signature, read from the type and import sections. */
function signatures(bytes) {
  const valueTypes = { 0x7f: 'i32', 0x7e: 'i64', 0x7d: 'f32', 0x7c: 'f64' };
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  const list = (item) => Array.from({ length: number() }, item);
  const string = () => {
    const length = number();
    return Buffer.from(bytes.subarray(at, (at += length))).toString('utf8');
  };
  let types = [];
  while (at < bytes.length) {
    const section = bytes[at++];
    const length = number();
    const end = at + length;
    if (section === 1) {
      types = list(() => {
        check(bytes[at++] === 0x60, 'a type is not a function');
        const parameters = list(() => valueTypes[bytes[at++]]);
        return `${parameters}->${list(() => valueTypes[bytes[at++]])}`;
      });
    }
    if (section === 2) {
      return new Map(
        list(() => {
          string();
          const name = string();
          check(bytes[at++] === 0, `${name} is not a function`);
          return [name, types[number()]];
        }),
      );
    }
    at = end;
  }
  return new Map();
}
