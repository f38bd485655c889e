import { commands, type Disposable } from 'vscode';
import { commandIds, type CommandName } from './manifest';

/** Registers every contributed command. */
export function registerCommands(run: (name: CommandName, args: readonly unknown[]) => Promise<void>): Disposable[] {
  return (Object.keys(commandIds) as CommandName[]).map((name) =>
    commands.registerCommand(commandIds[name], (...args: unknown[]) => run(name, args)),
  );
}
