import { deepStrictEqual } from 'node:assert';
import type { KnownWorkspace } from '../../../../src/node/workspaces/workspaceEntry';
import { otherWorkspace, placeOf, relinkPick } from '../../../../src/vscode/history/knownPlaces';
import { now } from '../sessions/sessions';

const entry = (workspaceUris: string[], more: Partial<KnownWorkspace> = {}): KnownWorkspace => ({
  version: 1,
  workspaceUris,
  remote: null,
  folder: '/stores/1',
  firstUsed: now,
  lastUsed: now,
  sessionCount: 1,
  ...more,
});

describe('names of workspaces', () => {
  it('are those of their folders', () => {
    const uris = [
      ['file:///home/me/tide%20tables'],
      ['file:///c%3A/work/tides'],
      ['file://server/share/tides'],
      ['vscode-vfs://github/me/tides'],
      ['file:///a/one', 'file:///b/two'],
      [],
      ['file:///%zz'],
      ['no address'],
    ];
    deepStrictEqual(
      uris.map((one) => placeOf({ workspaceUris: one })),
      [
        { name: 'tide tables', place: '/home/me/tide tables' },
        { name: 'tides', place: 'c:/work/tides' },
        { name: 'tides', place: '//server/share/tides' },
        { name: 'tides', place: 'vscode-vfs://github/me/tides' },
        { name: 'one + two', place: '/a/one, /b/two' },
        { name: 'No folder', place: 'windows without a folder' },
        { name: '%zz', place: '/%zz' },
        { name: 'no address', place: 'no address' },
      ],
    );
  });

  it('opens one folder, not several and not this very workspace', () => {
    const opened = [
      otherWorkspace({ entry: entry(['file:///a']), reason: 'other', gone: false }),
      otherWorkspace({ entry: entry(['file:///a', 'file:///b']), reason: 'other', gone: false }),
      otherWorkspace({ entry: entry(['file:///a']), reason: 'previous', gone: false }),
    ];
    deepStrictEqual(
      opened.map(({ name, uri }) => [name, uri]),
      [
        ['a', 'file:///a'],
        ['a + b', null],
        ['a (before it was linked)', null],
      ],
    );
  });

  it('come with the reason why they are offered, and how to take that back', () => {
    const picks = [
      relinkPick({ entry: entry(['file:///home/me/tides'], { sessionCount: 1_200 }), reason: 'same_repository', gone: true }, now),
      relinkPick({ entry: entry(['file:///home/me/tides'], { sessionCount: null }), reason: 'previous', gone: false }, now),
    ];
    deepStrictEqual(
      picks.map(({ label, description, detail }) => [label, description, detail]),
      [
        ['tides', 'the same repository, at a place that is gone', '1,200 sessions · last used just now · /home/me/tides'],
        ['Take the link back', 'where this workspace had its sessions before it was linked', 'last used just now · /home/me/tides'],
      ],
    );
  });
});
