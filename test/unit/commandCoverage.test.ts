import { deepStrictEqual } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandIds, type CommandName } from '../../src/vscode/manifest';
import { projectRoot } from '../support/paths';

/** The helpers that run a command by its title: in the palette, in a menu, as the button of a row or of a view. */
const helpers = /\b(?:run|runCommand|chooseFromMenu|pressInline|pressUntil|pressTitle)\(/;

/** What the tests press for the commands that they reach in another way. */
const pressed: Partial<Record<CommandName, string>> = {
  openSession: "sessions.choose('Mooring codes')",
  showMoreSessions: "sessions.row('Show more…').click(",
  relinkHistory: "getByRole('button', { name: 'Relink History…' }).click()",
  declineRelink: "getByText('start afresh').click()",
};

const folder = join(projectRoot, 'test', 'vscode', 'ui');
const titles = JSON.parse(readFileSync(join(projectRoot, 'package.nls.json'), 'utf8')) as Record<string, string>;

describe('the tests of the window', () => {
  it('run every command', () => {
    const lines = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
    const runs = lines.filter((line) => helpers.test(line));
    const isRun = (name: CommandName) => {
      const other = pressed[name];
      if (other !== undefined) return lines.some((line) => line.includes(other));
      const title = titles[`command.${name}`]!;
      // The helpers for rows and menus take the beginning of a title.
      const written = [title, title.replace('…', '')].flatMap((text) => [`'${text}'`, `'Threadkeeper: ${text}'`]);
      return runs.some((line) => written.some((text) => line.includes(text)));
    };
    deepStrictEqual(
      (Object.keys(commandIds) as CommandName[]).filter((name) => !isRun(name)),
      [],
    );
  });
});
