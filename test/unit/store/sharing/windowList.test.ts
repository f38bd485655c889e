import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WindowList, type ListedWindow } from '../../../../src/node/store/sharing/windowList';
import { thisProcess } from '../../../../src/node/store/sharing/processIdentity';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';

describe('the list of windows that use a store', () => {
  let temp: TempFolder;
  let file: string;
  beforeEach(() => {
    temp = tempFolder();
    file = join(temp.path, 'owner.windows');
  });
  afterEach(() => temp.remove());

  const window = (id: string): ListedWindow => ({ id, process: thisProcess() });
  const ended: ListedWindow = { id: 'ended', process: { ...thisProcess(), startTime: 'of another process' } };
  const write = (...windows: ListedWindow[]) => writeFileSync(file, JSON.stringify(windows));
  const listed = () => (JSON.parse(readFileSync(file, 'utf8')) as ListedWindow[]).map(({ id }) => id);
  const list = (id: string, afterAnother = false, isOurs = true) =>
    new WindowList({ file, me: window(id), afterAnother, isOurs: () => isOurs });

  it('is waited for until the last that lives has come', async () => {
    write(window('a'), window('b'), ended, window('me'));
    const mine = list('me');
    const seen: string[] = [];
    const returned = mine.returned!.then(() => seen.push('returned'));
    for (const id of ['a', 'a', 'new']) {
      mine.joined({}, window(id));
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(id);
    }
    deepStrictEqual(listed(), ['b', 'me', 'a', 'new']);
    mine.joined({}, window('b'));
    await returned;
    deepStrictEqual(
      [seen, listed()],
      [
        ['a', 'a', 'new', 'returned'],
        ['me', 'a', 'new', 'b'],
      ],
    );
  });

  it('still names who has not come when the next owner ends as well', () => {
    write(window('a'), window('late'), window('me'));
    const mine = list('me');
    mine.joined('a', window('a'));
    mine.close(false);
    mine.left('a');
    deepStrictEqual(listed(), ['late', 'a']);
    const next = list('a');
    notStrictEqual(next.returned, null);
    deepStrictEqual(listed(), ['late', 'a']);
  });

  it('names an owner that comes back, and one whose old connection breaks after it has a new one', () => {
    const mine = list('me');
    mine.joined('old', window('a'));
    mine.joined('new', window('a'));
    mine.left('old');
    mine.close(true);
    deepStrictEqual(listed(), ['me', 'a']);
  });

  it('is given up after a while where a window that lives does not come', async () => {
    write(window('never'));
    const { returned } = list('me');
    deepStrictEqual([returned === null, listed()], [false, ['never', 'me']]);
    await returned;
    deepStrictEqual(listed(), ['me']);
  });

  it('is waited for some time where it is not known who was there', async () => {
    const { returned } = list('me', true);
    notStrictEqual(returned, null);
    await returned;
    writeFileSync(file, '[{"id"');
    notStrictEqual(list('me', true).returned, null);
  });

  it('keeps nobody waiting where nobody is left', () => {
    strictEqual(list('me').returned, null);
    write(ended, window('me'));
    const mine = list('me', true);
    strictEqual(mine.returned, null);
    mine.close(false);
    strictEqual(existsSync(file), false);
  });

  it('is left alone when the store is another owner’s', () => {
    write(window('other'));
    const mine = list('me', false, false);
    mine.joined('a', window('a'));
    mine.close(false);
    deepStrictEqual(listed(), ['other']);
  });
});
