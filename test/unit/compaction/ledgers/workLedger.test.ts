import assert from 'node:assert/strict';
import fc from 'fast-check';
import { emptyWorkLedger, extendWorkLedger, renderWorkLedger, WorkLedger } from '../../../../src/core/compaction/ledgers/workLedger';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

function ledgerOf(
  build: (use: (name: string, input: unknown, text?: string, status?: 'ok' | 'error' | 'denied') => void, b: BranchBuilder) => void,
  budget = 2_000,
): WorkLedger {
  const b = new BranchBuilder();
  let call = 0;
  build((name, input, text = 'ok', status = 'ok') => {
    const callId = `c${++call}`;
    b.call(callId, name, input);
    b.add({ type: 'tool_result', callId, name, text, status });
  }, b);
  return extendWorkLedger(emptyWorkLedger, b.entries, budget, estimateTokens);
}

describe('the work ledger', () => {
  it('knows files by what was done to them, whatever the tool is called', () => {
    const ledger = ledgerOf((use) => {
      use('read_file', { path: 'src/a.ts', start_line: 1, end_line: 80 });
      use('Read', { file_path: '/w/b.ts', offset: 10, limit: 20 });
      use('str_replace_based_edit_tool', { command: 'view', path: 'src/c.ts', view_range: [5, -1] });
      use('str_replace_based_edit_tool', { command: 'create', path: 'src/d.ts', file_text: 'x' });
      use('editFile', { filePath: 'src/a.ts' });
      use('read_file', { path: 'src/a.ts' });
      use('apply_patch', { paths: ['x.py', 'y.py'] });
      use('delete_file', { path: 'old.ts' });
      use('memory', { command: 'create', path: '/memories/n.md' });
      use('recall', { query: 'path' });
      use('read_file', { path: 'gone.ts' }, 'no such file', 'error');
    });
    assert.deepEqual(ledger.files, [
      { path: '/w/b.ts', action: 'read', range: '10–29', ref: '#3' },
      { path: 'src/c.ts', action: 'read', range: '5–end', ref: '#5' },
      { path: 'src/d.ts', action: 'created', range: null, ref: '#7' },
      { path: 'src/a.ts', action: 'edited', range: null, ref: '#9' },
      { path: 'x.py', action: 'edited', range: null, ref: '#13' },
      { path: 'y.py', action: 'edited', range: null, ref: '#13' },
      { path: 'old.ts', action: 'deleted', range: null, ref: '#15' },
    ]);
    assert.deepEqual(ledger.lastError, { text: 'no such file', ref: '#21', source: 'read_file', fix: null });
  });

  it('keeps the newest outcome of a command, the tests that fail, and the error with its fix', () => {
    const fails = '--- FAIL: TestParse (0.1s)\nFAILED tests/x.py::test_y\nError: expected 3\nexit code: 1';
    const red = ledgerOf((use) => use('bash', { command: 'npm  test' }, fails));
    assert.deepEqual(red.commands, [{ command: 'npm test', passed: false, ref: '#1' }]);
    assert.deepEqual(
      red.failing.map(({ text }) => text),
      ['TestParse', 'tests/x.py::test_y'],
    );
    const green = ledgerOf((use) => {
      use('bash', { command: 'npm test' }, fails);
      use('edit', { path: 'src/parse.ts' });
      use('bash', { command: 'npm test' }, 'all good\nexit code: 0');
    });
    assert.deepEqual([green.commands, green.failing], [[{ command: 'npm test', passed: true, ref: '#5' }], []]);
    assert.deepEqual(green.lastError, {
      text: 'Error: expected 3',
      ref: '#1',
      source: 'npm test',
      fix: 'src/parse.ts (#3), works since #5',
    });
    assert.match(renderWorkLedger(green), /`npm test` passed \(#5\)/);
  });

  it('has the open items of the newest list', () => {
    const ledger = ledgerOf((use) => {
      use('todo_write', { todos: [{ content: 'old', status: 'pending' }] });
      use('todo_write', {
        todos: [{ content: 'a', status: 'completed' }, { content: 'b', status: 'in_progress' }, { text: 'c', done: true }, { title: 'd' }],
      });
    });
    assert.deepEqual(ledger.todos, [
      { text: 'b', ref: '#3' },
      { text: 'd', ref: '#3' },
    ]);
  });

  it('is merged over compactions, and drops what was only read before anything that was changed', () => {
    const b = new BranchBuilder();
    for (let i = 0; i < 200; i++) {
      b.call(`r${i}`, 'read_file', { path: `src/read/some/folder/${i}.ts` });
      b.result(`r${i}`, 'x', 'read_file');
    }
    for (let i = 0; i < 10; i++) {
      b.call(`w${i}`, 'write_file', { path: `src/made/${i}.ts` });
      b.result(`w${i}`, 'x', 'write_file');
    }
    let ledger = emptyWorkLedger;
    for (let at = 0; at < b.entries.length; at += 20) ledger = extendWorkLedger(ledger, b.entries.slice(at, at + 20), 500, estimateTokens);
    assert.ok(estimateTokens(renderWorkLedger(ledger)) <= 500);
    assert.deepEqual(
      ledger.files.filter(({ action }) => action === 'created').map(({ path }) => path),
      Array.from({ length: 10 }, (_, i) => `src/made/${i}.ts`),
    );
    assert.equal(ledger.files.length + ledger.left.files, 210);
    assert.ok(
      ledger.files.some(({ path }) => path.endsWith('/199.ts')),
      'of the read ones the newest stay',
    );
  });

  it('says nothing when no tool was used, and never throws on any input', () => {
    assert.equal(renderWorkLedger(emptyWorkLedger), '');
    fc.assert(
      fc.property(fc.string(), fc.anything(), fc.string(), (name, input, text) => {
        const ledger = ledgerOf((use) => use(name, input, text));
        assert.deepEqual(WorkLedger.parse(JSON.parse(JSON.stringify(ledger))), ledger);
      }),
    );
  });
});
