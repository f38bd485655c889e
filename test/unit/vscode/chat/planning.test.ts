import { deepStrictEqual } from 'node:assert';
import { PresenterRig, user, call, result } from '../../../support/chat/presenterRig';

describe('what the chat shows of lists, modes and side questions', () => {
  it('shows the to-do list of the newest call, until it is done and the user goes on', () => {
    const rig = new PresenterRig();
    const list = (status: 'pending' | 'done') => [{ text: 'Measure', status }];
    rig.append(user('Plan it'));
    rig.append(call('c1', 'update_todos', { todos: list('pending') }));
    rig.take();
    rig.append(result('c1', '0 of 1 done.'));
    const shown = () => rig.take().filter(({ kind }) => kind === 'todos');
    deepStrictEqual(shown(), []);
    rig.append(call('c2', 'update_todos', { todos: list('pending') }));
    rig.append({ type: 'tool_result', callId: 'c2', name: 'update_todos', text: '0 of 1 done.', status: 'ok' });
    deepStrictEqual(shown(), [{ kind: 'todos', todos: list('pending') }]);
    deepStrictEqual(rig.presenter.parts().todos, list('pending'));
    rig.append(call('c3', 'update_todos', { todos: list('done') }));
    rig.append({ type: 'tool_result', callId: 'c3', name: 'update_todos', text: '1 of 1 done.', status: 'ok' });
    deepStrictEqual(shown(), [{ kind: 'todos', todos: list('done') }]);
    rig.append(user('Thanks'));
    deepStrictEqual(shown(), [{ kind: 'todos', todos: [] }]);
    deepStrictEqual(rig.presenter.parts().todos, undefined);
  });

  it('tells the mode of the session when it changes, and to a view that opens', () => {
    const rig = new PresenterRig();
    const change = (metadata: Record<string, unknown>) => {
      Object.assign(rig.session, { metadata });
      rig.emit({ type: 'session_changed', session: rig.session });
    };
    const shown = () => rig.take().filter(({ kind }) => kind === 'mode');
    change({ tags: ['a'] });
    deepStrictEqual([shown(), rig.presenter.parts().mode], [[], undefined]);
    change({ mode: 'plan' });
    deepStrictEqual([shown(), rig.presenter.parts().mode], [[{ kind: 'mode', mode: 'plan' }], 'plan']);
    change({});
    deepStrictEqual([shown(), rig.presenter.parts().mode], [[{ kind: 'mode', mode: 'chat' }], undefined]);
  });

  it('says at the call what its side question came to', () => {
    const rig = new PresenterRig();
    rig.append(user('Where?'));
    const asking = rig.append(call('c1', 'ask_aside', { question: 'Where is the port set?' }));
    rig.append(
      {
        type: 'side_question',
        question: 'Where is the port set?',
        text: 'All of it.',
        outcome: 'answered',
        provider: 'anthropic',
        model: 'm',
        requests: 2,
        calls: 1,
        read: 400,
        input: 900,
        output: 20,
        cost: 0.01,
      },
      { parent: asking.uuid, modelFacing: false },
    );
    rig.append({ type: 'tool_result', callId: 'c1', name: 'ask_aside', text: 'In a.ts:3.', status: 'ok' });
    const aside = { id: 'e3', read: 400, requests: 2, cost: 0.01, outcome: 'answered' };
    const shown = rig.presenter.parts().rows.flatMap((row) => (row.kind === 'tool' ? [[row.title, row.output, row.aside]] : []));
    deepStrictEqual(shown, [['Looked into: Where is the port set?', 'In a.ts:3.', aside]]);
  });

  it('says in words that the mode has changed, and what was done with notes', () => {
    const rig = new PresenterRig();
    rig.append({ type: 'usage_note', text: 'Plan mode is on. Change nothing yet.' });
    const note = (callId: string, input: unknown) => {
      rig.append(call(callId, 'memory', input));
      rig.append({ type: 'tool_result', callId, name: 'memory', text: 'Done.', status: 'ok' });
    };
    note('c1', { command: 'view', path: '/memories' });
    note('c2', { command: 'create', path: '/memories/tides.md', file_text: 'Local.' });
    note('c3', { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/b.md' });
    note('c4', { command: 'sing' });
    rig.append({ type: 'usage_note', text: 'Plan mode is off. All tools can be used.' });
    const shown = rig.presenter.parts().rows.map((row) => (row.kind === 'tool' ? row.title : row.kind === 'info' ? row.text : row.kind));
    deepStrictEqual(shown, [
      'Plan mode on: the model changes nothing',
      'Read the notes',
      'Wrote the note tides.md',
      'Renamed the note a.md',
      null,
      'Plan mode off: the model can change files again',
    ]);
  });
});
