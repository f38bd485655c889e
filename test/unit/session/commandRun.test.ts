import assert from 'node:assert/strict';
import { commandMessage, readCommandRun } from '../../../src/core/session/commandRun';

describe('a command that the user has run', () => {
  const read = (run: Parameters<typeof commandMessage>[0]) => readCommandRun(commandMessage(run));

  it('reads to the model as in pi, and apart again for the transcript (seed 004)', () => {
    assert.equal(
      commandMessage({ command: 'npm test', output: '3 fail', exitCode: 1 }).text,
      'Ran `npm test`\n```\n3 fail\n```\n\nCommand exited with code 1',
    );
    assert.deepEqual(read({ command: 'npm test', output: '3 fail', exitCode: 1 }), {
      command: 'npm test',
      output: '3 fail\n\nCommand exited with code 1',
      failed: true,
    });
    assert.deepEqual(read({ command: 'ls\npwd', output: 'a\n```\nb', exitCode: 0 }), {
      command: 'ls\npwd',
      output: 'a\n```\nb',
      failed: false,
    });
    assert.deepEqual(read({ command: 'sleep 9', output: '', exitCode: null, cancelled: true }), {
      command: 'sleep 9',
      output: '(no output)\n\n(command cancelled)',
      failed: true,
    });
    assert.deepEqual(read({ command: 'cat x', output: 'x', exitCode: 0, truncated: true }), {
      command: 'cat x',
      output: 'x\n\n(output truncated)',
      failed: false,
    });
  });

  it('is read as it was written before, too', () => {
    const text = 'Ran `ls`, exit code 0:\na\nb';
    assert.deepEqual(readCommandRun({ type: 'custom_message', customType: 'command', text }), {
      command: 'Ran `ls`, exit code 0:',
      output: 'a\nb',
      failed: false,
    });
  });
});
