import assert from 'node:assert/strict';
import { workspaceInstructions } from '../../../src/node/memory/workspaceTexts';

describe('what a workspace wants assistants to heed', () => {
  const read = (files: Readonly<Record<string, string>>) =>
    workspaceInstructions({ read: async (path) => (files[path] === undefined ? undefined : { text: files[path], hash: '' }) });

  it('is what its files say, each under its name', async () => {
    assert.equal(await read({}), '');
    assert.equal(await read({ 'AGENTS.md': ' \n' }), '');
    assert.equal(
      await read({ 'AGENTS.md': 'Use tabs.\n', '.github/copilot-instructions.md': 'Write tests.', 'README.md': 'no' }),
      "From the workspace's AGENTS.md:\nUse tabs.\n\nFrom the workspace's .github/copilot-instructions.md:\nWrite tests.",
    );
  });

  it('is cut where it would fill the window, and says so', async () => {
    const text = await read({ 'AGENTS.md': 'rule '.repeat(40_000) });
    assert.ok(text.length < 20_200 && text.endsWith('rule \n[… the rest is in the file …]'), text.slice(-60));
  });
});
