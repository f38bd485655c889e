import { deepStrictEqual } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError, type EngineFailure } from '../../../../src/core/sync/syncEngine';
import { noSyncYet } from '../../../../src/core/sync/syncState';
import { addressProblem, hasPassword, isUsable } from '../../../../src/vscode/sync/engineAddresses';
import { adviceFor, engineName, noteText, sentText, setUpFailure, shortState, unreadTexts } from '../../../../src/vscode/sync/syncTexts';

describe('what is said of synchronizing', () => {
  it('says that everything was sent only where it was', () => {
    const synced = { ...noSyncYet, phase: 'idle', at: 1 } as const;
    const failed = { ...synced, failure: { reason: 'unreachable', message: '', again: null } } as const;
    deepStrictEqual(
      [sentText(synced, false), sentText(synced, true), sentText(failed, false), sentText({ ...synced, phase: 'syncing' }, false)],
      [
        'Everything from this device was sent',
        'Something is waiting to be sent',
        'Something may be waiting to be sent',
        'Something may be waiting to be sent',
      ],
    );
  });

  it('tells records of a newer version from those without a key', () => {
    deepStrictEqual(unreadTexts([{ keyId: '' }, { keyId: 'k' }, { keyId: 'l' }]), [
      { label: '2 records cannot be read yet', detail: 'Their key has not arrived yet.' },
      { label: '1 record cannot be read yet', detail: 'A newer version has written them. Update Threadkeeper here to read them.' },
    ]);
  });

  it('tells of notes that could not be updated', () => {
    const note = { path: 'plan.md', detail: 'The disk is full' };
    const state = { ...noSyncYet, phase: 'idle', at: 1, notes: [note] } as const;
    deepStrictEqual(
      [shortState(state, 2), noteText(note)],
      ['synced, with problems', { label: 'The note plan.md could not be updated', detail: 'The disk is full' }],
    );
  });

  it('says what to do about every engine that cannot be set up', () => {
    const failed = (reason: EngineFailure, address: string) => setUpFailure(new EngineError(reason, 'What the engine says'), address);
    const database = 'postgres://me@host/db';
    const reach = 'Check the address, that the server runs, and that this machine can reach it. ';
    const unchanged = 'Nothing was changed on this machine.';
    deepStrictEqual(
      (['unreachable', 'slow', 'refused', 'full', 'readonly', 'version'] as const).map((reason) => failed(reason, database)),
      [reach, reach, '', 'Make room there. ', '', ''].map((advice) => ({
        message: 'What the engine says',
        detail: `${advice}${unchanged}`,
      })),
    );
    deepStrictEqual(
      [failed('no_history', database), failed('no_history', '/shared'), failed('unreachable', '/shared')],
      [
        { message: 'db @ host has no history of this recovery phrase.', detail: `Check the words and the address. ${unchanged}` },
        {
          message: '/shared has no history of this recovery phrase.',
          detail: `Check the words and the folder. Where its files have not arrived on this machine yet, wait for them. ${unchanged}`,
        },
        { message: 'What the engine says', detail: `Check that its drive is connected, and that what carries it runs. ${unchanged}` },
      ],
    );
  });

  it('says how to give another password, and that nothing is lost meanwhile', () => {
    const kept = 'What you say meanwhile is kept here and sent later.';
    deepStrictEqual(
      [adviceFor('refused', 'postgres://me@host/db'), adviceFor('refused', '/shared'), adviceFor('full', 'postgres://me@host/db')],
      [`“Threadkeeper: Set Up Sync…” asks for the password again. ${kept}`, kept, `Make room there. ${kept}`],
    );
  });

  it('names every address, and no password', () => {
    deepStrictEqual(
      ['postgres://me:secret@host:5/db', 'postgres://me:secret@ho st/db', 'postgres://host/%E0%A4%A', '/shared'].map(engineName),
      ['db @ host:5', 'ho st/db', '%E0%A4%A @ host', '/shared'],
    );
  });

  it('offers an address only where it can be used', async () => {
    const there = mkdtempSync(join(tmpdir(), 'sync-'));
    try {
      const addresses = [
        '',
        there,
        join(there, 'none'),
        'shared',
        'postgres://ho st/db',
        'postgres://me:secret@host/db',
        'postgres://me@host/db',
      ];
      deepStrictEqual(await Promise.all(addresses.map(isUsable)), [false, true, false, false, false, false, true]);
      deepStrictEqual(addresses.filter(hasPassword), ['postgres://me:secret@host/db']);
      deepStrictEqual(addressProblem('postgres://me:secret@host/db'), 'Leave the password out of the address: you are asked for it next.');
    } finally {
      rmSync(there, { recursive: true });
    }
  });
});
