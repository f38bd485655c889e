import { windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual } from 'node:assert';
import { noSyncYet, type SyncState } from '../../../../src/core/sync/syncState';
import { SyncHere, type SyncHereDeps } from '../../../../src/vscode/sync/syncHere';

const none = () => ({ dispose: () => undefined });
const setup = { history: 'h', name: 'main', engine: '/shared' };

/** A window that has heard what `state` says; null: it synchronizes nothing. */
function windowWith(state: Partial<SyncState> | null): SyncHere {
  Object.assign(windowDouble.workspace, { isTrusted: true, onDidGrantWorkspaceTrust: none });
  windowDouble.window['onDidChangeWindowState'] = none;
  const here = new SyncHere({
    secrets: { onDidChange: none },
    memory: { synced: () => null },
    contextKeys: { set: () => undefined },
    store: { current: null, onDidOpen: none, onDidChangeContent: none },
  } as unknown as SyncHereDeps);
  if (state) (here as unknown as { syncing: unknown }).syncing = { state: { ...noSyncYet, phase: 'idle', ...state } };
  return here;
}

describe('what other devices have said', () => {
  const isHere = (state: Partial<SyncState> | null, isSetUp = true) =>
    windowWith(state).isCurrent({ syncSetup: async () => (isSetUp ? setup : null) });
  const problems = [{ kind: 'missing' as const, device: 'd', index: 3, detail: 'gone' }];
  const recently = () => ({ at: Date.now() });

  it('is here where nothing is set up, or this window has heard it lately and without a problem', async () => {
    deepStrictEqual(
      {
        nothingSetUp: await isHere(null, false),
        setUpOnTheCommandLine: await isHere(null),
        notYet: await isHere({}),
        lately: await isHere(recently()),
        longAgo: await isHere({ at: Date.now() - 3_600_000 }),
        withProblems: await isHere({ ...recently(), problems }),
        leftSince: await isHere({ problems }, false),
      },
      {
        nothingSetUp: true,
        setUpOnTheCommandLine: false,
        notYet: false,
        lately: true,
        longAgo: false,
        withProblems: false,
        leftSince: true,
      },
    );
  });
});
