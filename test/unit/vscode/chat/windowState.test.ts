import { deepStrictEqual } from 'node:assert';
import type { Logger } from '../../../../src/core/ports';
import { WindowState, type RememberedMeter } from '../../../../src/vscode/chat/windowState';

/** As VS Code keeps it: what is written comes back as JSON. */
class Storage {
  readonly kept = new Map<string, string>();
  isFull = false;

  get<T>(key: string): T | undefined {
    const value = this.kept.get(key);
    return value === undefined ? undefined : (JSON.parse(value) as T);
  }

  async update(key: string, value: unknown): Promise<void> {
    if (this.isFull) throw new Error('no room');
    if (value === undefined) this.kept.delete(key);
    else this.kept.set(key, JSON.stringify(value));
  }
}

const meter: RememberedMeter = { text: '42%', tooltip: 'of 200k', label: '42 percent', severity: 'warning', canUndo: true };

describe('what is known before the history is opened', () => {
  let workspace: Storage;
  let machine: Storage;
  let warned: unknown[];
  let memory: WindowState;
  beforeEach(() => {
    [workspace, machine, warned] = [new Storage(), new Storage(), []];
    const log: Logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: (event, data) => void warned.push([event, data?.['key']]),
      error: () => undefined,
    };
    memory = new WindowState(workspace, machine, log);
  });

  const all = () => ({
    last: memory.lastSession(),
    meter: memory.lastMeter(),
    newSessionDraft: memory.newSessionDraft(),
    offline: memory.offlineChosen(),
    declined: memory.relinkDeclined(),
    told: memory.toldEphemeral('/here'),
    retention: [memory.retention.lastRun(), memory.retention.agreed()],
    transcript: memory.transcripts.has('a'),
    watched: memory.watched.has('a'),
    banner: memory.dismissedBanners.has('b'),
    names: memory.modelNames(),
  });
  const nothing = {
    last: undefined,
    meter: null,
    newSessionDraft: undefined,
    offline: false,
    declined: false,
    told: false,
    retention: [0, undefined],
    transcript: false,
    watched: false,
    banner: false,
    names: [],
  };

  it("is nothing at first, and then what was kept, the user's choices for every workspace", async () => {
    deepStrictEqual(all(), nothing);
    await memory.setLastSession('s');
    await memory.setLastMeter(meter);
    await memory.setNewSessionDraft({ draft: 'x' });
    await memory.setOfflineChosen(true);
    await memory.setRelinkDeclined();
    await memory.setToldEphemeral('/here');
    await memory.retention.setLastRun(5);
    await memory.retention.setAgreed(30);
    await memory.transcripts.add('a');
    await memory.watched.add('a');
    await memory.dismissedBanners.add('b');
    await memory.setModelNames([['acme/large', 'Acme Large']]);
    deepStrictEqual(all(), {
      last: 's',
      meter,
      newSessionDraft: { draft: 'x' },
      offline: true,
      declined: true,
      told: true,
      retention: [5, 30],
      transcript: true,
      watched: true,
      banner: true,
      names: [['acme/large', 'Acme Large']],
    });
    memory = new WindowState(new Storage(), machine, {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
    });
    deepStrictEqual(all(), { ...nothing, offline: true, transcript: true, names: [['acme/large', 'Acme Large']] });
  });

  it('tells a session without a message from none, and forgets both', async () => {
    await memory.setLastSession(null);
    await memory.setLastMeter(meter);
    deepStrictEqual([memory.lastSession(), memory.lastMeter()], [null, meter]);
    await memory.forgetLast();
    deepStrictEqual([memory.lastSession(), memory.lastMeter()], [undefined, null]);
  });

  it('takes what it cannot read for nothing', () => {
    const foreign = [
      7,
      'text',
      [],
      ['one'],
      [['a', 1]],
      [['a', 'b', 'c']],
      {},
      { ...meter, severity: 'other' },
      { ...meter, canUndo: 1 },
      null,
    ];
    for (const value of foreign) {
      for (const key of [
        'lastMeter',
        'offlineChosen',
        'relinkDeclined',
        'toldEphemeral',
        'retentionAgreed',
        'modelNames',
        'transcriptsAgreed',
        'watchedAgreed',
        'dismissedBanners',
      ]) {
        if (key === 'retentionAgreed' && value === 7) continue;
        for (const storage of [workspace, machine]) storage.kept.set(`threadkeeper.${key}`, JSON.stringify(value));
      }
      const { newSessionDraft: _, ...known } = all();
      const { newSessionDraft: __, ...empty } = nothing;
      deepStrictEqual(known, empty, JSON.stringify(value));
    }
  });

  it('keeps the banners that were closed last, and goes on when nothing can be kept', async () => {
    for (let i = 0; i < 21; i++) await memory.dismissedBanners.add(`banner ${i}`);
    deepStrictEqual(
      [memory.dismissedBanners.has('banner 0'), memory.dismissedBanners.has('banner 1'), memory.dismissedBanners.has('banner 20')],
      [false, true, true],
    );
    workspace.isFull = true;
    await memory.setLastSession('s');
    deepStrictEqual([memory.lastSession(), warned], [undefined, [['state_not_saved', 'threadkeeper.lastSession']]]);
  });
});
