import assert from 'node:assert/strict';
import { isContextOverflow, plainText } from '../../../src/node/models/failureText';
import { HttpError, httpFailure, retryAfterMs } from '../../../src/node/models/httpFailure';

describe('isContextOverflow', () => {
  const overflows = [
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length or `max_tokens` and try again',
    "This model's maximum context length is 16385 tokens. However, your messages resulted in 31228 tokens.",
    'the request exceeds the available context size, try increasing it',
    'Your input exceeds the context window of this model.',
    'Context window exceeded',
    'Input is too long for requested model.',
    'too many input tokens',
  ];
  const others = [
    'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5',
    'messages.3.content.0.image.source.base64: image exceeds 5 MB maximum',
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    'messages: text content blocks must be non-empty',
    'Your credit balance is too low to access the Anthropic API.',
    '',
  ];
  for (const text of overflows) it(`yes: ${text.slice(0, 50)}`, () => assert.equal(isContextOverflow(text), true));
  for (const text of others) it(`no: ${text.slice(0, 50)}`, () => assert.equal(isContextOverflow(text), false));
});

describe('retryAfterMs', () => {
  const now = Date.parse('2026-11-22T10:00:00Z');
  const wait = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), now);
  it('reads what servers send', () => {
    assert.equal(wait({ 'retry-after': '12' }), 12_000);
    assert.equal(wait({ 'retry-after': ' 0.5 ' }), 500);
    assert.equal(wait({ 'retry-after': '0' }), 0);
    assert.equal(wait({ 'retry-after': 'Sun, 22 Nov 2026 10:00:30 GMT' }), 30_000);
    assert.equal(wait({ 'retry-after': 'Sun, 22 Nov 2026 09:00:00 GMT' }), 0);
    assert.equal(wait({ 'retry-after-ms': '1500', 'retry-after': '9' }), 1_500);
  });
  it('ignores what it cannot read', () => {
    for (const value of ['', 'soon', '-3', '1e9', '12 s', 'Foo, bar']) assert.equal(wait({ 'retry-after': value }), undefined, value);
    assert.equal(retryAfterMs(undefined, now), undefined);
  });
});

describe('what a failure says', () => {
  it('has no secret in it, and what matters is left', () => {
    const texts: readonly (readonly [string, string])[] = [
      ['key sk-ant-api03-AbC_123-xyz expired', 'key [token] expired'],
      ['Authorization: Bearer abc.def.ghi123', 'Authorization: Bearer [token]'],
      ['the model said {"x-api-key":"abcdef","model":"m"}', 'the model said {"x-api-key":"[secret]","model":"m"}'],
      ['api_key=abcdef&x=1', 'api_key=[secret]&x=1'],
      ['connect to http://me:secret@proxy:8080 failed', 'connect to http://[login]@proxy:8080 failed'],
      ['the value hunter2-hunter2 leaked', 'the value [secret] leaked'],
    ];
    for (const [text, safe] of texts) assert.equal(httpFailure(new HttpError(400, text), ['hunter2-hunter2'], 0).detail, safe);
    for (const text of ['invalid x-api-key', 'model: claude-sonnet-5-5', 'prompt is too long: 5 tokens > 4 maximum', 'No bearer token'])
      assert.equal(httpFailure(new HttpError(400, text), ['model'], 0).detail, text);
  });

  it('comes with a reason, from the status, the code or the words of the server', () => {
    const answers: readonly (readonly [number | undefined, string, string])[] = [
      [400, 'no such field', 'invalid_request'],
      [400, 'prompt is too long: 5 tokens > 4 maximum', 'overflow'],
      [400, '{"error":{"message":"no","code":"content_filter"}}', 'refused'],
      [401, '', 'bad_key'],
      [402, '', 'quota'],
      [403, '', 'bad_key'],
      [404, '{"error":"model \'x\' not found"}', 'unknown_model'],
      [404, 'not found', 'invalid_request'],
      [407, '', 'network'],
      [408, '', 'server'],
      [413, '', 'overflow'],
      [429, '', 'rate_limited'],
      [429, '{"error":{"message":"no","code":"insufficient_quota"}}', 'quota'],
      [500, 'the request exceeds the available context size', 'overflow'],
      [503, '', 'server'],
      [529, '', 'overloaded'],
      [undefined, 'broken', 'server'],
      [undefined, '{"error":{"message":"busy","code":529}}', 'overloaded'],
    ];
    assert.deepEqual(
      answers.map(([status, body]) => httpFailure(new HttpError(status, body), [], 0).reason),
      answers.map(([, , reason]) => reason),
    );
  });

  it('is the words of a page', () => {
    assert.equal(
      plainText('<html><style>a{}</style><SCRIPT>x</SCRIPT><h1>502</h1> <p class="a">Bad\ngateway</p><script>never closed'),
      '502 Bad gateway',
    );
  });
});
