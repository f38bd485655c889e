import assert from 'node:assert/strict';
import * as vscode from 'vscode';

interface Manifest {
  contributes: { commands: { command: string }[] };
}

describe('activation', () => {
  function extension(): vscode.Extension<unknown> {
    const found = vscode.extensions.getExtension('threadkeeper.threadkeeper');
    assert.ok(found, 'the extension is not installed');
    return found;
  }

  it('activates on a fresh profile', async () => {
    await extension().activate();
    assert.equal(extension().isActive, true);
  });

  it('registers every command that package.json contributes', async () => {
    await extension().activate();
    const { contributes } = extension().packageJSON as Manifest;
    const registered = new Set(await vscode.commands.getCommands(true));
    const contributed = contributes.commands.map(({ command }) => command);
    assert.ok(contributed.length > 0, 'package.json contributes no command');
    assert.deepEqual(
      contributed.filter((command) => !registered.has(command)),
      [],
    );
  });
});
