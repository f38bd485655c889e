import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { wasmFile } from '../../../support/store/storeTemp';
import { freshImport, importedEntries, WatchRig } from '../../../support/store/watchRig';

/** What happens to a file while it is followed. Numbers are taken modulo what there is. */
type Operation =
  | { readonly kind: 'append'; readonly lines: number; readonly half: boolean }
  | { readonly kind: 'truncate'; readonly keep: number }
  | { readonly kind: 'replace' | 'rewrite'; readonly lines: number }
  | { readonly kind: 'delete' | 'rotate' | 'touch' | 'look' };

const operation: fc.Arbitrary<{ readonly program: number; readonly file: number; readonly does: Operation }> = fc.record({
  program: fc.nat(3),
  file: fc.nat(1),
  does: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('append' as const), lines: fc.integer({ min: 1, max: 3 }), half: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncate' as const), keep: fc.nat(5) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('replace' as const, 'rewrite' as const), lines: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'rotate' as const, 'touch' as const, 'look' as const) }) },
  ),
});

let count = 0;

/** Lines of a session, each said once and never again. */
interface Kind {
  readonly path: (name: string) => string;
  readonly header: (name: string) => string;
  readonly line: (name: string) => string;
}

const at = '2026-09-01T10:00:00.000Z';
const kinds: readonly Kind[] = [
  {
    path: (name) => `.codex/sessions/2026/09/01/rollout-${name}.jsonl`,
    header: (name) => JSON.stringify({ timestamp: at, type: 'session_meta', payload: { id: name, cwd: '/w' } }),
    line: () =>
      JSON.stringify({
        timestamp: at,
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: `words ${count++}` }] },
      }),
  },
  {
    path: (name) => `.claude/projects/-w/${name}.jsonl`,
    header: (name) =>
      JSON.stringify({
        uuid: `h${count++}`,
        parentUuid: null,
        sessionId: name,
        timestamp: at,
        cwd: '/w',
        type: 'system',
        subtype: 'begun',
      }),
    line: (name) =>
      JSON.stringify({
        uuid: `u${count}`,
        parentUuid: null,
        sessionId: name,
        timestamp: at,
        cwd: '/w',
        type: 'assistant',
        message: { id: `m${Math.floor(count / 2)}`, role: 'assistant', content: [{ type: 'text', text: `words ${count++}` }] },
      }),
  },
  {
    path: (name) => `.gemini/tmp/w/chats/session-${name}.jsonl`,
    header: (name) => JSON.stringify({ sessionId: name, projectHash: 'h', startTime: at, kind: 'main' }),
    line: () => JSON.stringify({ id: `g${count}`, timestamp: at, type: 'user', content: `words ${count++}` }),
  },
  { path: (name) => `.continue/sessions/${name}.json`, header: () => '', line: () => `words ${count++}` },
];

describe('following programs whose files do as they please', function () {
  this.timeout(240_000);

  function perform(file: string, name: string, kind: Kind, does: Operation): void {
    mkdirSync(dirname(file), { recursive: true });
    const isWhole = file.endsWith('.json');
    const whole = (lines: readonly string[]) =>
      JSON.stringify({ sessionId: name, history: lines.map((text) => ({ message: { role: 'user', content: text } })) });
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const kept = isWhole
      ? text === ''
        ? []
        : (JSON.parse(text) as { history: { message: { content: string } }[] }).history.map(({ message }) => message.content)
      : text.split('\n').filter((line) => line !== '');
    const make = (n: number) => Array.from({ length: n }, () => kind.line(name));
    const begun = (lines: readonly string[]) =>
      isWhole ? whole(lines) : [kind.header(name), ...lines].map((line) => `${line}\n`).join('');
    switch (does.kind) {
      case 'append': {
        if (isWhole || text === '') return writeFileSync(file, isWhole ? whole([...kept, ...make(does.lines)]) : begun(make(does.lines)));
        // The end of a half line comes first.
        const rest = text.endsWith('\n') ? '' : '"}\n';
        appendFileSync(
          file,
          rest +
            make(does.lines)
              .map((line) => `${line}\n`)
              .join('') +
            (does.half ? '{"type":"half' : ''),
        );
        return;
      }
      case 'truncate':
        if (!existsSync(file)) return;
        if (isWhole) return writeFileSync(file, whole(kept.slice(0, does.keep)));
        return truncateSync(
          file,
          kept.slice(0, does.keep).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0),
        );
      case 'replace':
        writeFileSync(`${file}.tmp`, begun(make(does.lines)));
        return renameSync(`${file}.tmp`, file);
      case 'rewrite':
        return writeFileSync(file, begun(make(does.lines)));
      case 'delete':
        return rmSync(file, { force: true });
      case 'rotate':
        if (existsSync(file)) renameSync(file, `${file}.1`);
        return;
      case 'touch':
        if (existsSync(file)) writeFileSync(file, readFileSync(file));
        return;
      case 'look':
        return;
    }
  }

  it('has all that a fresh import of them gives, each thing once and in its place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 14 }), fc.boolean(), async (operations, restarts) => {
        const rig = await WatchRig.open();
        try {
          const programs = ['codex', 'claude-code', 'gemini', 'continue'] as const;
          await rig.start(programs);
          const files = new Set<string>();
          let onlyGrew = true;
          for (const [i, { program, file: index, does }] of operations.entries()) {
            const kind = kinds[program]!;
            const name = `s${program}${index}`;
            const file = join(rig.home, kind.path(name));
            files.add(file);
            onlyGrew &&= does.kind === 'append' || does.kind === 'look';
            perform(file, name, kind, does);
            if (does.kind === 'look') await rig.caughtUp();
            if (restarts && i === Math.floor(operations.length / 2)) {
              await rig.stop();
              await rig.start(programs);
            }
          }
          await rig.caughtUp();
          const there = [...files].filter((file) => existsSync(file) && statSync(file).size > 0);
          const fresh = await freshImport(there);
          const followed = await importedEntries(rig.store);
          const missing = [...fresh].filter(([id, entry]) => followed.get(id) !== entry);
          assert.deepEqual(missing, []);
          if (onlyGrew) assert.deepEqual([...followed].sort(), [...fresh].sort());
        } finally {
          await rig.close();
        }
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });

  it('a database: sessions that come, grow, change and go', async () => {
    const sqlite = await loadSqlite(wasmFile);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ session: fc.nat(2), does: fc.constantFrom('say', 'grow', 'drop', 'look') }), { minLength: 1, maxLength: 12 }),
        async (operations) => {
          const rig = await WatchRig.open();
          const file = join(rig.home, '.local/share/opencode/opencode.db');
          mkdirSync(dirname(file), { recursive: true });
          const database = sqlite.openMemory();
          try {
            database.run(
              'CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER)',
            );
            database.run('CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, data TEXT)');
            database.run('CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)');
            const write = () => {
              writeFileSync(`${file}.tmp`, database.export());
              renameSync(`${file}.tmp`, file);
            };
            write();
            await rig.start(['opencode']);
            let tick = 1;
            let growing: string | null = null;
            for (const { session, does } of operations) {
              const id = `ses_${session}`;
              const touch = () => database.run('UPDATE session SET time_updated = ? WHERE id = ?', [tick++, id]);
              if (does === 'say') {
                database.run("INSERT OR IGNORE INTO session VALUES (?, NULL, '/w', 'Named', 1, 0, NULL)", [id]);
                const name = String(count++).padStart(6, '0');
                database.run('INSERT INTO message VALUES (?, ?, ?)', [
                  `msg_${name}`,
                  id,
                  JSON.stringify({ role: 'assistant', time: { created: 1 }, modelID: 'm' }),
                ]);
                database.run('INSERT INTO part VALUES (?, ?, ?, ?)', [
                  `prt_${name}`,
                  `msg_${name}`,
                  id,
                  JSON.stringify({ type: 'text', text: `words ${name}`, time: { start: 1 } }),
                ]);
                growing = name;
                touch();
              } else if (does === 'grow' && growing !== null) {
                const part = { type: 'text', text: `words ${growing} and more`, time: { start: 1, end: 2 } };
                database.run('UPDATE part SET data = ? WHERE id = ?', [JSON.stringify(part), `prt_${growing}`]);
                database.run('UPDATE session SET time_updated = ? WHERE id = (SELECT session_id FROM part WHERE id = ?)', [
                  tick++,
                  `prt_${growing}`,
                ]);
              } else if (does === 'drop') {
                database.run('DELETE FROM message WHERE session_id = ?', [id]);
                database.run('DELETE FROM part WHERE session_id = ?', [id]);
                database.run('DELETE FROM session WHERE id = ?', [id]);
              }
              write();
              if (does === 'look') await rig.caughtUp();
            }
            await rig.caughtUp();
            const fresh = await freshImport([file]);
            const followed = await importedEntries(rig.store);
            assert.deepEqual(
              [...fresh.keys()].filter((id) => !followed.has(id)),
              [],
            );
          } finally {
            database.close();
            await rig.close();
          }
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  });
});
