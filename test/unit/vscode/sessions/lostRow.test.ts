import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOfLostRow } from '../../../../src/vscode/sessions/tree/isOfLostRow';
import type { CommandName } from '../../../../src/vscode/manifest';
import { projectRoot } from '../../../support/paths';

interface Manifest {
  readonly contributes: { readonly menus: Record<string, readonly { readonly command: string; readonly when: string }[]> };
}

describe('a row that VS Code does not name', () => {
  it('is missed by what is chosen in the menu of a row, and by nothing else', () => {
    const cases: readonly [CommandName, readonly unknown[], boolean][] = [
      ['archiveSession', [undefined, undefined], true],
      ['deleteSession', [null, null], true],
      ['pinSession', [undefined, [undefined, undefined]], true],
      ['archiveSession', [{ kind: 'session' }, undefined], false],
      // From the palette, by a key, and from the title of the chat.
      ['archiveSession', [], false],
      ['trashSession', ['selection'], false],
      ['renameSession', [undefined], false],
      // The buttons of the view get no row.
      ['clearSessionFilter', [undefined, undefined], false],
    ];
    deepStrictEqual(
      cases.map(([name, args]) => isOfLostRow(name, args)),
      cases.map(([, , expected]) => expected),
    );
  });

  it('is looked out for by every command of such a menu that means the session in the chat elsewhere', () => {
    const { menus } = (JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Manifest).contributes;
    const ofRows = menus['view/item/context']!.filter(({ when }) => /viewItem [=~]+ \/?\^?session/.test(when));
    const names = [...new Set(ofRows.map(({ command }) => command.replace('threadkeeper.', '') as CommandName))];
    deepStrictEqual(names.filter((name) => !isOfLostRow(name, [undefined, undefined])).sort(), ['copySessionId', 'openWorkspace']);
  });
});
