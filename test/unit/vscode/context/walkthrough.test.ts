import { deepStrictEqual } from 'node:assert';
import type { ContextSnapshot } from '../../../../src/core/context/measure/snapshot';
import type { WalkthroughStep } from '../../../../src/vscode/manifest';
import { Walkthrough } from '../../../../src/vscode/context/walkthrough';

describe('the steps of the walkthrough', () => {
  let kept: readonly WalkthroughStep[];
  let set: string[];
  let ticked: WalkthroughStep[];
  const open = () =>
    new Walkthrough(
      { stepsDone: () => [...kept], setStepsDone: async (steps) => void (kept = steps) },
      { set: (key, value) => value && set.push(key) },
      (step) => ticked.push(step),
    );
  const answeredBy = (model: string) => ({ context: { model } as ContextSnapshot, canUndo: false });
  beforeEach(() => {
    [kept, set, ticked] = [[], [], []];
  });

  it('are done for good when their thing is done, wherever that happens', () => {
    const walkthrough = open();
    walkthrough.done('chat');
    walkthrough.ran('searchHistory');
    walkthrough.ran('importSessions');
    walkthrough.ran('showLog');
    deepStrictEqual(
      [kept, set, ticked],
      [
        ['chat', 'import'],
        ['chatDone', 'importDone'],
        ['chat', 'import'],
      ],
    );
    [set, ticked] = [[], []];
    open().done('chat');
    deepStrictEqual([set, ticked], [['chatDone', 'importDone'], []]);
  });

  it('about models wait for an answer of one', () => {
    const walkthrough = open();
    walkthrough.saw({ context: null, canUndo: false });
    walkthrough.saw(answeredBy('offline/offline'));
    deepStrictEqual(kept, []);
    walkthrough.saw(answeredBy('anthropic/claude-test'));
    walkthrough.saw({ ...answeredBy('anthropic/claude-test'), canUndo: true });
    deepStrictEqual(kept, ['model', 'gauge', 'compact']);
  });
});
