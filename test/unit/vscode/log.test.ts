import { deepStrictEqual } from 'node:assert';
import { Log, type LogChannel } from '../../../src/vscode/log';

/** Behaves as VS Code's: throws once it is closed. */
class Channel {
  readonly lines: string[] = [];
  closed = 0;

  readonly write = (line: string): void => {
    if (this.closed > 0) throw new Error('Channel has been closed');
    this.lines.push(line);
  };
  readonly debug = this.write;
  readonly info = this.write;
  readonly warn = this.write;
  readonly error = this.write;
  readonly show = (): void => this.write('shown');
  readonly dispose = (): void => void this.closed++;
}

describe('Log', () => {
  it('writes until it is disposed, and then neither writes nor throws', () => {
    const channel = new Channel();
    const log = new Log(() => channel satisfies LogChannel);
    const all = () => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]('event', { level });
      log.show();
    };
    all();
    const written = ['event level=debug', 'event level=info', 'event level=warn', 'event level=error', 'shown'];
    deepStrictEqual(channel.lines, written);
    log.dispose();
    log.dispose();
    all();
    deepStrictEqual([channel.lines, channel.closed], [written, 1]);
  });

  it('opens the channel with the first line and only once', () => {
    const opened: Channel[] = [];
    const log = new Log(() => {
      opened.push(new Channel());
      return opened[0] as Channel;
    });
    deepStrictEqual(opened.length, 0);
    log.info('first');
    log.info('second');
    deepStrictEqual(
      opened.map(({ lines }) => lines),
      [['first', 'second']],
    );
    new Log(() => {
      throw new Error('opened for nothing');
    }).dispose();
  });

  it('keeps a secret out that looks like a word', () => {
    const channel = new Channel();
    const log = new Log(() => channel);
    log.hide('ordinary-word');
    log.info('asked', { detail: 'with ordinary-word in it' });
    deepStrictEqual(channel.lines.join().includes('ordinary-word'), false);
  });
});
