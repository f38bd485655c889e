import { deepStrictEqual, equal, rejects } from 'node:assert/strict';
import { ModelError } from '../../../../src/core/models/modelEvent';
import { LmModels } from '../../../../src/vscode/models/lmModels';
import { LmDouble } from '../../../support/vscode/lmDouble';
import { assistant, collect, failureOf, never, request as anyRequest, user } from '../../models/rig';
import { conforms } from '../../models/conformance';
import { lmSubject, Recorder } from '../../models/subjects';

conforms(lmSubject);

describe('LmModels', () => {
  const request = (change = {}) => anyRequest({ model: 'acme/double', ...change });

  function models(double: LmDouble, canSend: () => boolean | undefined = () => true): LmModels {
    return new LmModels({ api: double.api, canSend, log: new Recorder().logger });
  }

  it('puts the system text in front of the first message of the user, and calls and results where they belong', async () => {
    const double = new LmDouble(100_000);
    const messages = [
      user('Find it'),
      assistant('Looking.', { type: 'tool_use', callId: 'c1', name: 'recall', input: { q: 1 } }),
      user({ type: 'tool_result', callId: 'c1', text: '5173', isError: false }),
    ];
    await collect(
      models(double).stream(
        request({ system: 'Be brief.', messages, tools: [{ name: 'recall', description: 'finds', inputSchema: { type: 'object' } }] }),
        never,
      ),
    );
    const [sent] = double.requests;
    deepStrictEqual(JSON.parse(JSON.stringify(sent!.messages)), [
      { role: 'user', parts: [{ value: 'Be brief.' }, { value: 'Find it' }] },
      { role: 'assistant', parts: [{ value: 'Looking.' }, { callId: 'c1', name: 'recall', input: { q: 1 } }] },
      { role: 'user', parts: [{ callId: 'c1', content: [{ value: '5173' }] }] },
    ]);
    deepStrictEqual((sent!.options as { tools: unknown }).tools, [
      { name: 'recall', description: 'finds', inputSchema: { type: 'object' } },
    ]);
  });

  it('sends images to a model that sees them, and in words where VS Code, the model or its provider takes none', async () => {
    const image = { type: 'image', name: 'pier.png', mime: 'image/png', data: 'AQI=' } as const;
    const words = { value: '[The user has attached the image "pier.png". You cannot see images: say so if the answer depends on it.]' };
    const drawn = { data: { type: 'Buffer', data: [1, 2] }, mimeType: 'image/png' };
    const sees = (double: LmDouble, supportsImageToText: boolean) =>
      (double.models = double.models.map((model) => Object.assign(model, { capabilities: { supportsImageToText } })));
    const sent = ({ requests }: LmDouble) =>
      requests.map(({ messages }) => (JSON.parse(JSON.stringify(messages)) as { parts: unknown[] }[])[0]!.parts[0]);
    const ask = (lm: LmModels) => collect(lm.stream(request({ messages: [user(image)] }), never));

    const older = new LmDouble(10_000);
    sees(older, true);
    await ask(models(older));
    deepStrictEqual(sent(older), [words]);

    const double = new LmDouble(10_000);
    double.hasDataParts = true;
    sees(double, false);
    const lm = models(double);
    await ask(lm);
    sees(double, true);
    await ask(lm);
    double.enqueue(double.error('Request Failed: 400 {"error":{"message":"missing required Copilot-Vision-Request header"}}'));
    deepStrictEqual((await ask(lm)).at(-1), { type: 'stopped', reason: 'end_turn' });
    await ask(lm);
    deepStrictEqual(sent(double), [words, drawn, drawn, words, words], 'a refusal is remembered');
  });

  it('says in its own words what VS Code says in codes and texts', async () => {
    const cases = [
      ['Chat quota exceeded: you have used all premium requests.', '', 'quota'],
      ['Access denied', 'NoPermissions', 'invalid_request'],
      ['gone', 'NotFound', 'unknown_model'],
      ['slow down', 'Blocked', 'rate_limited'],
      ['Message exceeds token limit.', '', 'overflow'],
      ['Response got filtered.', '', 'refused'],
      ['Request Failed: 400 {"error":{"message":"tools.0: no good"}}', '', 'invalid_request'],
      ['Request Failed: 408 Timeout', '', 'server'],
      ['Request Failed: 429 too fast', '', 'rate_limited'],
      ['Request Failed: 529 Overloaded', '', 'overloaded'],
      ['net::ERR_NAME_NOT_RESOLVED', '', 'network'],
      ['Something else', '', 'server'],
    ] as const;
    for (const [message, code, reason] of cases) {
      const double = new LmDouble(100_000);
      double.enqueue(double.error(message, code));
      equal(failureOf(await collect(models(double).stream(request(), never))).reason, reason, message);
    }
  });

  it('knows whether the user has been asked, and which models there are', async () => {
    const double = new LmDouble(10_000);
    const user: { answer?: boolean } = {};
    const lm = models(double, () => user.answer);
    deepStrictEqual(
      (await lm.listModels()).map(({ id, name, window, maxOutput }) => ({ id, name, window, maxOutput })),
      [{ id: 'acme/double', name: 'Acme Double', window: 14_096, maxOutput: 4_096 }],
    );
    equal(lm.needsConsent('acme/double'), true);
    user.answer = true;
    equal(lm.needsConsent('acme/double'), false);
    double.models = [];
    await rejects(
      lm.describe('acme/double'),
      (error) => ModelError.is(error) && error.failure.reason === 'unknown_model' && /sign in/.test(error.message),
    );
  });
});
