import { deepStrictEqual, ok } from 'node:assert';
import { logLine } from '../../../src/vscode/log';

describe('logLine', () => {
  it('writes an event with its data on one line', () => {
    deepStrictEqual(
      logLine('store_opened', { access: 'owner', file: '/a b/c', note: null, missing: undefined, ms: 3, error: new Error('no "way"') }),
      'store_opened access=owner file="/a b/c" note=null ms=3 error="no \\"way\\""',
    );
  });

  it('shows nothing that is a secret or looks like one', () => {
    const line = logLine(
      'request',
      { authorization: 'Bearer abcdefgh12345678', detail: 'sk-ant-api03-secretsecret and hunter2hunter2', nested: { apiKey: 'plainword' } },
      ['hunter2hunter2'],
    );
    for (const secret of ['abcdefgh12345678', 'secretsecret', 'hunter2', 'plainword']) ok(!line.includes(secret), `${secret} in ${line}`);
  });

  it('survives values that cannot be written', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    deepStrictEqual(logLine('odd', { circular, big: 10n }), 'odd circular=[object Object] big=10');
    ok(logLine('long', { text: 'x'.repeat(10_000) }).length < 2_100);
  });
});
