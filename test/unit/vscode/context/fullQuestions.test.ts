import { deepStrictEqual } from 'node:assert';
import type { FullQuestion } from '../../../../src/core/chat/turn/turn';
import { FullQuestions } from '../../../../src/vscode/context/fullQuestions';

describe('FullQuestions', () => {
  const question = (session: string): FullQuestion => ({ session, used: 9, effective: 10, limit: 10 });
  const never = new AbortController().signal;

  it('keeps one waiting for each session until it is answered', async () => {
    const asked: string[] = [];
    const questions = new FullQuestions(({ session }) => asked.push(session));
    const [a, b] = [questions.ask(question('a'), never), questions.ask(question('b'), never)];
    deepStrictEqual(
      { asked, pendingA: questions.pending('a'), pendingC: questions.pending('c'), pendingNowhere: questions.pending(undefined) },
      { asked: ['a', 'b'], pendingA: question('a'), pendingC: undefined, pendingNowhere: undefined },
    );
    deepStrictEqual(
      [questions.answer('a', { summarize: 'x' }), questions.answer('a', 'truncate'), questions.answer('c', 'truncate')],
      [true, false, false],
    );
    deepStrictEqual([await a, questions.pending('a'), questions.pending('b')], [{ summarize: 'x' }, undefined, question('b')]);
    questions.answer('b', 'continue');
    deepStrictEqual(await b, 'continue');
  });

  it('forgets what the user stops, and nothing that was asked since', async () => {
    const questions = new FullQuestions(() => undefined);
    const stop = new AbortController();
    const stopped = questions.ask(question('a'), stop.signal);
    questions.answer('a', 'summarize');
    const again = questions.ask(question('a'), never);
    stop.abort();
    deepStrictEqual([await stopped, questions.pending('a')], ['summarize', question('a')]);
    questions.answer('a', 'truncate');
    deepStrictEqual(await again, 'truncate');
    deepStrictEqual([await questions.ask(question('a'), stop.signal), questions.pending('a')], ['continue', undefined]);
  });
});
