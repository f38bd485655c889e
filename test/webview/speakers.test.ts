import { deepStrictEqual } from 'node:assert';
import { items, fromSnapshot } from '../../webview-ui/chat/state';
import { speakers } from '../../webview-ui/transcript/transcriptMarks';
import { assistant, snapshot, tool, user } from './support/fixtures';

describe('the name above an answer', () => {
  const names = (rows: Parameters<typeof snapshot>[0]) => {
    const all = items(fromSnapshot(snapshot(rows), 1));
    return speakers(all, 0, all.length, 'Claude Sonnet 4.5');
  };

  it('is that of the model that gave it, and of no model where that is not known', () => {
    const rows = [
      user('u1', 'a'),
      assistant('a1', 'b', { model: 'Claude Opus 4.5' }),
      user('u2', 'c'),
      assistant('a2', 'd', { model: 'GPT-4o' }),
      user('u3', 'e'),
      assistant('a3', 'f', { model: '' }),
    ];
    deepStrictEqual(names({ rows }), [null, 'Claude Opus 4.5', null, 'GPT-4o', null, 'Assistant']);
  });

  it('stands above the calls that an answer begins with', () => {
    const rows = [
      user('u1', 'a'),
      tool('t1'),
      assistant('a1', 'b', { model: 'gpt-4o' }),
      user('u2', 'c'),
      tool('t2'),
      assistant('a2', 'd', { model: '' }),
      user('u3', 'e'),
      tool('t3'),
      user('u4', 'f'),
      tool('t4'),
    ];
    deepStrictEqual(names({ rows }), [null, 'gpt-4o', null, null, 'Assistant', null, null, 'Assistant', null, 'Claude Sonnet 4.5']);
  });
});
