import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { assistant, running, snapshot, tool, user } from './support/fixtures';
import { useViews } from './support/openView';

describe('answers', function () {
  this.timeout(60_000);
  const open = useViews();

  it('puts what can be done with an answer at its end and with a message above it: nothing is covered, nothing moves', async () => {
    for (const width of [200, 320, 600]) {
      const rows = [
        user('u1', 'How long is a piece of string, all things considered?'),
        assistant('a1', 'As long as it is.\n\nOr twice that.'),
      ];
      const view = await open({ snapshot: snapshot({ rows }), width });
      const measured = await view.page.evaluate(() => {
        const range = (selector: string) => {
          const text = document.createRange();
          text.selectNodeContents(document.querySelector(selector)!);
          return text.getBoundingClientRect();
        };
        const bar = (row: string) => document.querySelector(`[data-id=${row}] .row-actions`)!.getBoundingClientRect();
        const [message, answer] = [range('[data-id=u1] .user-text'), range('[data-id=a1] tk-markdown')];
        return {
          above: bar('u1').bottom - message.top,
          below: answer.bottom - bar('a1').top,
          right: innerWidth - bar('u1').right,
          left: bar('u1').left,
        };
      });
      ok(measured.above <= 3 && measured.below <= 0, `${width}: ${JSON.stringify(measured)}`);
      ok(measured.right >= 0 && measured.left >= 0, `${width}: ${JSON.stringify(measured)}`);
      strictEqual(await view.find('[data-id=a1] .row-actions').evaluate((bar) => getComputedStyle(bar).opacity), '1');
    }
  });

  it('an answer has its footer in sight at its end; what comes before a tool call has it on hover, and nothing moves', async () => {
    const rows = [user('u1', 'Look'), assistant('a1', 'I look.'), tool('t1'), assistant('a2', 'Seen.')];
    const view = await open({ snapshot: snapshot({ rows, turn: running('streaming') }) });
    const look = (row: string) =>
      view
        .find(`[data-id=${row}] .row-actions`)
        .evaluate((bar) => ({ opacity: getComputedStyle(bar).opacity, top: bar.getBoundingClientRect().top }));
    const before = [await look('a1'), await look('a2')];
    deepStrictEqual(
      before.map(({ opacity }) => opacity),
      ['0', '0'],
    );
    await view.delta({ kind: 'turn', turn: null });
    const after = [await look('a1'), await look('a2')];
    deepStrictEqual(after, [before[0], { ...before[1], opacity: '1' }]);
    await view.find('[data-id=a1]').hover();
    deepStrictEqual(await look('a1'), { ...before[0], opacity: '1' });
  });

  it('marks answers that were cut short, and goes on with the last one or asks again', async () => {
    const cut = (['stopped', 'disconnected', 'crashed'] as const).map((interrupted) => assistant(interrupted, 'Half', { interrupted }));
    const view = await open({ snapshot: snapshot({ rows: cut }) });
    deepStrictEqual(
      (await view.find('.interrupted').allTextContents()).map((t) => t.replace(/\s+/g, ' ').trim()),
      ['Stopped', 'Connection lost', 'Interrupted by a restart'],
    );
    await view.button('Continue').click();
    await view.button('Ask for another answer').last().click();
    deepStrictEqual(await view.requests(), [{ method: 'retry' }, { method: 'regenerate', entry: 'crashed' }]);
  });
});
