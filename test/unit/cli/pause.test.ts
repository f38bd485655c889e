import { Pause } from '../../../src/node/cli/pause';

describe('a pause between two rounds', () => {
  const hour = 3_600_000;

  it('ends when it is called, also by a call that came while the round before was still at work', async () => {
    const pause = new Pause();
    const first = pause.take(hour);
    pause.call();
    await first;
    pause.call();
    await pause.take(hour);
  });

  it('is over after its time, and a call that has ended one does not shorten the next', async () => {
    const pause = new Pause();
    pause.call();
    await pause.take(hour);
    let isOver = false;
    const next = pause.take(hour).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    if (isOver) throw new Error('it is over already');
    pause.call();
    await next;
    await pause.take(1);
  });
});
