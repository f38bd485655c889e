import { deepStrictEqual } from 'node:assert';
import { StoreError, type StoreErrorReason } from '../../../src/core/errors';
import type { StoreStatus } from '../../../src/core/ports';
import { bannerFor } from '../../../src/vscode/banner';

const owner: StoreStatus = { access: 'owner', durability: 'file', note: null, file: '/h/history.db' };

describe('bannerFor', () => {
  it('says nothing when all is well or nothing is open yet', () => {
    deepStrictEqual([bannerFor({ status: owner, failure: null, trusted: true }), bannerFor({ status: null, failure: null, trusted: true })], [null, null]);
  });

  it('tells the most important condition', () => {
    const readonly: StoreStatus = { ...owner, access: 'readonly', note: { reason: 'other_owner', detail: 'x' } };
    const reduced: StoreStatus = { ...owner, durability: 'export', note: { reason: 'self_test_failed', detail: 'x' } };
    const failure = new StoreError('corrupt', '/h/history.db is damaged');
    deepStrictEqual(
      [{ status: readonly, failure }, { status: readonly, failure: null }, { status: reduced, failure: null }, { status: owner, failure: null }].map((input) => bannerFor({ ...input, trusted: false })?.kind),
      ['store_failed', 'readonly', 'reduced_durability', 'untrusted'],
    );
  });

  it('has words for every way a store can fail', () => {
    const reasons: StoreErrorReason[] = ['readonly', 'disk_full', 'permission', 'corrupt', 'newer_schema', 'invalid', 'conflict', 'lease_lost', 'closed', 'io'];
    const texts = [...reasons.map((reason) => new StoreError(reason, 'The file.')), new Error('Odd.')].map((failure) => bannerFor({ status: null, failure, trusted: true })?.text ?? '');
    deepStrictEqual(texts.filter((text) => text.length < 40), []);
  });
});
