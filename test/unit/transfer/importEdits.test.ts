import { deepStrictEqual, strictEqual } from 'node:assert';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeCodeEdits, editParts } from '../../../src/core/transfer/fileEdits';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('edits that other programs have recorded', function () {
  this.timeout(60_000);
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  const line = (type: string, uuid: string, parentUuid: string | null, content: unknown, more: object = {}) =>
    JSON.stringify({
      ...{
        type,
        uuid,
        parentUuid,
        sessionId: 'eeeeeeee-1111-4222-8333-444444444444',
        cwd: '/home/ada/tides',
        timestamp: '2026-09-01T10:00:00Z',
      },
      message: { role: type, content, ...(type === 'assistant' ? { id: `m-${uuid}`, model: 'claude-x' } : {}) },
      ...more,
    });
  const call = (id: string, name: string) => [{ type: 'tool_use', id, name, input: {} }];
  const result = (id: string) => [{ type: 'tool_result', tool_use_id: id, content: 'done' }];

  it('are listed by message, and their files restored, where the record has their contents', async () => {
    const path = (name: string) => `/home/ada/tides/${name}`;
    const file = join(temp.path, 'session.jsonl');
    writeFileSync(
      file,
      [
        line('user', 'u1', null, 'Write and edit'),
        line('assistant', 'a1', 'u1', call('t1', 'Write')),
        line('user', 'u2', 'a1', result('t1'), { toolUseResult: { type: 'create', filePath: path('new.txt'), content: 'new\n' } }),
        line('assistant', 'a2', 'u2', call('t2', 'Edit')),
        line('user', 'u3', 'a2', result('t2'), {
          toolUseResult: { filePath: path('src/a.txt'), oldString: 'two', newString: '$& TWO', originalFile: 'one\ntwo\n' },
        }),
        line('user', 'u4', 'u3', 'Elsewhere'),
        line('assistant', 'a4', 'u4', call('t4', 'Edit')),
        line('user', 'u5', 'a4', result('t4'), {
          toolUseResult: { filePath: '/etc/hosts', oldString: 'a', newString: 'b', originalFile: 'a' },
        }),
        line('assistant', 'a5', 'u5', call('t5', 'Edit')),
        line('user', 'u6', 'a5', result('t5'), { toolUseResult: { filePath: path('b.txt'), oldString: 'a', newString: 'b' } }),
      ].join('\n') + '\n',
    );
    const store = join(temp.path, 'store');
    const imported = await runCliToEnd(['import', file, '--store', store, '--json']);
    strictEqual(imported.code, 0, imported.err);
    const [{ id }] = (JSON.parse(imported.out) as { sessions: [{ id: string }] }).sessions;
    const root = join(temp.path, 'tides');
    mkdirSync(join(root, 'src'), { recursive: true });
    writeFileSync(join(root, 'new.txt'), 'new\n');
    writeFileSync(join(root, 'src/a.txt'), 'one\n$& TWO\n');
    const restoreFrom = async (from: string) => {
      const shown = await runCliToEnd(['show', id, '--store', from, '--files']);
      deepStrictEqual(
        shown.out.split('\n').filter((text) => text.startsWith('-')),
        [
          '- `new.txt`: created (+1 −0)',
          '- `src/a.txt`: changed (+1 −1)',
          '- `/etc/hosts`: not in the folder of the session: not covered',
          '- `b.txt`: its content is not in the imported record',
        ],
      );
      const [, first] = /#(\d+) Write and edit/.exec(shown.out)!;
      return runCliToEnd(['restore-files', id, '--store', from, '--workspace', root, '--before', first!]);
    };
    strictEqual((await restoreFrom(store)).code, 0);
    strictEqual(readFileSync(join(root, 'src/a.txt'), 'utf8'), 'one\ntwo\n');
    strictEqual((await runCliToEnd(['restore-files', id, '--store', store, '--workspace', root, '--undo'])).code, 0);
    // An export takes the contents along when it is asked to, and only then.
    for (const [flags, isHeld] of [
      [['--file-contents'], true],
      [[], false],
    ] as const) {
      const out = join(temp.path, `out-${String(isHeld)}.json`);
      const other = join(temp.path, `other-${String(isHeld)}`);
      strictEqual((await runCliToEnd(['export', id, '--store', store, '--out', out, ...flags])).code, 0);
      strictEqual((await runCliToEnd(['import', out, '--store', other])).code, 0);
      const { code, out: said } = await runCliToEnd(['show', id, '--store', other, '--files', '--json']);
      strictEqual(code, 0, said);
      const plan = await runCliToEnd(['restore-files', id, '--store', other, '--workspace', root, '--undo', '--dry-run']);
      strictEqual(plan.err, '');
      strictEqual(/left .*not kept/.test(plan.out), !isHeld, plan.out);
    }
    strictEqual((await runCliToEnd(['export', id, '--store', store, '--file-contents', '--redact'])).code, 2);
    rmSync(root, { recursive: true });
  });

  it('are understood as far as they can be trusted', () => {
    const parts = (noted: unknown, cwd = 'C:\\work\\tides') =>
      editParts(claudeCodeEdits(noted), cwd).map(({ content, edits }) => [content, edits]);
    deepStrictEqual(parts({ filePath: 'C:\\work\\tides\\a\\b.txt', type: 'update', originalFile: 'x', content: 'y' }), [
      [{ type: 'file_changes', source: 'tool', files: [] }, [{ folder: 'tides', path: 'a/b.txt', before: 'x', after: 'y' }]],
    ]);
    for (const noted of [null, 'Error: no', {}, { filePath: 3 }, { filePath: '/x', stdout: '' }]) deepStrictEqual(parts(noted), []);
    for (const path of ['/home/ada/tides/../x', '/home/ada/tidesx/a', '../x', '/home/ada/tides'])
      deepStrictEqual(parts({ filePath: path, type: 'create', content: 'x' }, '/home/ada/tides')[0]?.[0], {
        ...{ type: 'file_changes', source: 'tool', files: [] },
        uncovered: [{ path, reason: 'outside' }],
      });
    const several = {
      filePath: '/w/a',
      originalFileContents: 'a a b',
      edits: [
        { old_string: 'a', new_string: 'c', replace_all: true },
        { old_string: 'b', new_string: '' },
      ],
    };
    deepStrictEqual(parts(several, '/w')[0]?.[1], [{ folder: 'w', path: 'a', before: 'a a b', after: 'c c ' }]);
    deepStrictEqual(parts({ ...several, edits: [{ old_string: 'not there', new_string: 'c' }] }, '/w')[0]?.[1], undefined);
  });
});
