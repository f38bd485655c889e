import { deepStrictEqual, match } from 'node:assert';
import { storeTurnError } from '../../../../src/core/chat/turn/turnError';
import { StoreError, type StoreErrorReason } from '../../../../src/core/errors';

/** What the user has to know: whether the message is lost, and what to do. */
const told: Readonly<Record<StoreErrorReason, readonly [before: RegExp, saved: RegExp]>> = {
  readonly: [/read-only .* Nothing was sent; your text is still here/, /read-only/],
  disk_full: [/full, so the message could not be saved and was not sent. Free some space/, /full. Your message is saved.* Free some space/],
  permission: [/may not be written, so the message was not sent. The file\./, /the answer was not saved; your message is. The file\./],
  conflict: [/The message was not sent; send it again/, /Your message is saved; try again/],
  lease_lost: [/Reload this window .* nothing of it is lost/, /Reload this window .* nothing of it is lost/],
  corrupt: [/nothing more was sent. The file\./, /nothing more was saved. The file\./],
  newer_schema: [/nothing more was sent. The file\./, /nothing more was saved. The file\./],
  invalid: [/nothing more was sent. The file\./, /nothing more was saved. The file\./],
  closed: [/nothing more was sent. The file\./, /nothing more was saved. The file\./],
  io: [/nothing more was sent. The file\./, /nothing more was saved. The file\./],
};

describe('a turn that the store refuses', () => {
  for (const [reason, texts] of Object.entries(told) as [StoreErrorReason, readonly [RegExp, RegExp]][]) {
    it(`says what became of the message, and what to do: ${reason}`, () => {
      for (const [i, text] of texts.entries()) {
        const error = storeTurnError(new StoreError(reason, 'The file.'), i === 1);
        deepStrictEqual(error.reason, 'store');
        match(error.message, text);
      }
    });
  }

  it('is not blamed for another fault', () => {
    deepStrictEqual(storeTurnError(new Error('Odd.')).reason, 'internal');
  });
});
