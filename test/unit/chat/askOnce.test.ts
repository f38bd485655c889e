import assert from 'node:assert/strict';
import { askOnce } from '../../../src/core/chat/askOnce';
import { fails, says, ScriptedModel, type Script } from '../../support/chat/scriptedModel';

describe('a question without history', () => {
  async function ask(script: Script, signal = new AbortController().signal) {
    const client = new ScriptedModel({ window: 100_000, maxOutput: 50_000 }, [script]);
    const told: string[] = [];
    const answer = await askOnce(
      { client, info: await client.describe('scripted-1'), summarizer: null },
      'What is a tide?',
      (text) => told.push(text),
      signal,
    );
    return { answer, told, requests: client.requests };
  }

  it('sends that question, no tools, and nothing else', async () => {
    const { answer, told, requests } = await ask(says('Water that moves.', { output: 4 }, 2));
    const { usage, ...said } = answer;
    assert.deepEqual(said, { text: 'Water that moves.', problem: null });
    assert.equal(usage?.output, 4);
    assert.equal(told.at(-1), 'Water that moves.');
    const [{ system, ...request } = { system: '' }] = requests;
    assert.deepEqual(request, {
      model: 'scripted-1',
      tools: [],
      messages: [{ role: 'user', blocks: [{ type: 'text', text: 'What is a tide?' }] }],
      maxOutputTokens: 8_192,
    });
    assert.match(system, /stands alone/);
  });

  it('keeps what had arrived when it breaks off or is cut, and says so', async () => {
    const cut = [{ type: 'text_delta' as const, index: 0, text: 'Water' }];
    assert.deepEqual((await ask([...cut, ...fails('server')])).answer, {
      text: 'Water',
      usage: null,
      problem: 'The provider had an error. Try again. The provider says: server by script',
    });
    assert.deepEqual((await ask([...cut, { type: 'stopped', reason: 'max_tokens' }])).answer, {
      text: 'Water',
      usage: null,
      problem: 'The answer reached the length limit and was cut.',
    });
    assert.deepEqual((await ask([...cut, { type: 'stopped', reason: 'model_context_window_exceeded' }])).answer, {
      text: 'Water',
      usage: null,
      problem: 'The answer was cut because the window is full.',
    });
    assert.equal((await ask(says(''))).answer.problem, 'The model gave no answer. Try again, or rephrase the message.');
    const abort = new AbortController();
    abort.abort();
    assert.deepEqual((await ask(says('Water'), abort.signal)).answer, { text: '', usage: null, problem: 'Stopped.' });
  });
});
