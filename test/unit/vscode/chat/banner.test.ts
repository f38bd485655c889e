import { deepStrictEqual } from 'node:assert';
import { StoreError, type StoreErrorReason } from '../../../../src/core/errors';
import type { StoreStatus } from '../../../../src/core/ports';
import { bannerFor, sessionPolicyProblem } from '../../../../src/vscode/chat/banner';

const owner: StoreStatus = { access: 'owner', durability: 'file', note: null, file: '/h/history.db' };

describe('bannerFor', () => {
  it('says nothing when all is well or nothing is open yet', () => {
    deepStrictEqual(
      [
        bannerFor({ status: owner, failure: null, trusted: true, policyProblem: null, isDismissed: () => false }),
        bannerFor({ status: null, failure: null, trusted: true, policyProblem: null, isDismissed: () => false }),
      ],
      [null, null],
    );
  });

  it('tells the most important condition', () => {
    const readonly: StoreStatus = { ...owner, access: 'readonly', note: { reason: 'other_owner', detail: 'x' } };
    const reduced: StoreStatus = { ...owner, durability: 'export', note: { reason: 'self_test_failed', detail: 'x' } };
    const failure = new StoreError('corrupt', '/h/history.db is damaged');
    deepStrictEqual(
      [
        { status: readonly, failure },
        { status: readonly, failure: null },
        { status: reduced, failure: null },
        { status: owner, failure: null },
      ].map((input) => bannerFor({ ...input, trusted: false, policyProblem: null, isDismissed: () => false })?.kind),
      ['store_failed', 'readonly', 'reduced_durability', 'untrusted'],
    );
  });

  it('says where to go with damage that was found in use, and that a full disk passes', () => {
    const found = bannerFor({
      status: { ...owner, note: { reason: 'damage_found', detail: 'Entry 5.' } },
      failure: null,
      trusted: true,
      policyProblem: null,
      isDismissed: () => false,
    });
    deepStrictEqual(found, { kind: 'damaged', text: 'Part of your history is damaged.', details: 'Entry 5.' });
    const full = bannerFor({
      status: { ...owner, access: 'readonly', note: { reason: 'disk_full', detail: 'No space.' } },
      failure: null,
      trusted: true,
      policyProblem: null,
      isDismissed: () => false,
    });
    deepStrictEqual(full?.kind, 'readonly');
    deepStrictEqual(/Free some space, then hide this view and show it again/.test(full?.text ?? ''), true);
  });

  it('gives no other note as the reason why nothing can be written', () => {
    const texts = (['recovered', 'damage_found', 'self_test_failed'] as const).map(
      (reason) =>
        bannerFor({
          status: { ...owner, access: 'readonly', note: { reason, detail: 'Kept as a.' } },
          failure: null,
          trusted: true,
          policyProblem: null,
          isDismissed: () => false,
        })?.text,
    );
    deepStrictEqual(texts, Array(3).fill('This history is read-only here.'));
  });

  it('says in a sentence what passes by itself, with details, until it is dismissed; then what is next', () => {
    const recovered = (detail: string): StoreStatus => ({ ...owner, durability: 'export', note: { reason: 'recovered', detail } });
    const dismissed: string[] = [];
    const next = (status: StoreStatus) => {
      const banner = bannerFor({
        status,
        failure: null,
        trusted: false,
        policyProblem: null,
        isDismissed: (one) => dismissed.includes(one),
      });
      if (banner?.dismissAs !== undefined) dismissed.push(banner.dismissAs);
      return banner;
    };
    deepStrictEqual(next(recovered('Kept as a.')), {
      kind: 'recovered',
      text: 'Your history was damaged. What could be read of it is here.',
      details: 'Kept as a. A backup comes back with “Threadkeeper: Restore History…”.',
      dismissAs: 'recovered: Kept as a. A backup comes back with “Threadkeeper: Restore History…”.',
    });
    const reduced = { kind: 'reduced_durability', text: 'Your history is saved in a slower and less robust way here.' };
    const selfTest = 'The file system did not pass the self-test.';
    deepStrictEqual(next(recovered('Kept as a.')), { ...reduced, details: selfTest, dismissAs: `reduced_durability: ${selfTest}` });
    const untrusted = 'Its files are read at most, and its own model, instructions and API address are ignored.';
    deepStrictEqual(next(recovered('Kept as a.')), {
      kind: 'untrusted',
      text: 'This workspace is not trusted: nothing in it is changed or run.',
      details: untrusted,
      dismissAs: `untrusted: ${untrusted}`,
    });
    deepStrictEqual(next(recovered('Kept as a.')), null);
    deepStrictEqual(next({ ...owner, durability: 'export', note: { reason: 'self_test_failed', detail: 'No locks.' } }), {
      ...reduced,
      details: 'No locks.',
      dismissAs: 'reduced_durability: No locks.',
    });
    deepStrictEqual(next(recovered('Kept as b.'))?.kind, 'recovered', 'it has happened again');
  });

  it('has words for every way a store can fail', () => {
    const reasons: StoreErrorReason[] = [
      'readonly',
      'disk_full',
      'permission',
      'corrupt',
      'newer_schema',
      'invalid',
      'conflict',
      'lease_lost',
      'closed',
      'io',
    ];
    const texts = [...reasons.map((reason) => new StoreError(reason, 'The file.')), new Error('Odd.')].map(
      (failure) => bannerFor({ status: null, failure, trusted: true, policyProblem: null, isDismissed: () => false })?.text ?? '',
    );
    deepStrictEqual(
      texts.filter((text) => text.length < 40),
      [],
    );
  });

  it('says what is wrong with the policy of the session, and what is used instead', () => {
    const settings = { preset: 'goose', overrides: { 'compaction.triggerPercent': 'many' } };
    const problem = (session: unknown) => sessionPolicyProblem(settings, session);
    // What the settings have wrong is told elsewhere.
    deepStrictEqual([problem(null), problem({ preset: 'librecode' }), problem({})], [null, null, null]);
    const preset = problem({ preset: 'goosey' });
    deepStrictEqual(
      preset?.startsWith(
        'The policy of this session cannot be used as it is; the policy balanced is in use. threadkeeper.context.policy: In this session: "goosey" is not a policy.',
      ),
      true,
      preset ?? '',
    );
    const value = problem({ overrides: { 'context.maxTokens': 'a lot' } });
    deepStrictEqual(
      /the policy goose is in use\. threadkeeper\.context\.maxTokens: In this session: "a lot" is not /.test(value ?? ''),
      true,
      value ?? '',
    );
    const damaged = problem(['goose']);
    deepStrictEqual(/the policy goose is in use\. .*Using the settings\./.test(damaged ?? ''), true, damaged ?? '');
    deepStrictEqual(bannerFor({ status: owner, failure: null, trusted: false, policyProblem: preset, isDismissed: () => false }), {
      kind: 'policy',
      text: preset,
    });
  });
});
