import { deepStrictEqual } from 'node:assert';
import { ActiveRow } from '../../../../src/vscode/models/activeRow';

describe('the focus in a list that grows', () => {
  const list = (...keys: string[]) => keys.map((key) => ({ key }));
  const active = () => new ActiveRow<{ key: string }>('in use', ({ key }) => key);

  it('stays where the user has moved it, however many lists arrive and however late VS Code reports them', () => {
    const row = active();
    const [first, , third] = list('in use', 'b', 'c');
    deepStrictEqual(row.place([first!, { key: 'b' }, third!]), first);
    row.moved(first!);
    row.moved(third!);
    const second = list('in use', 'a', 'b', 'c');
    deepStrictEqual(row.place(second), { key: 'c' });
    // The first row of the new list, which VS Code goes to by itself; another list comes before the rest is reported.
    row.moved(second[0]!);
    deepStrictEqual(row.place(list('in use', 'a', 'b', 'c', 'd')), { key: 'c' });
  });

  it('goes to the first row when the user goes there', () => {
    const row = active();
    const rows = list('a', 'in use');
    row.place(rows);
    row.moved(rows[0]!);
    row.moved(rows[1]!);
    row.moved(rows[0]!);
    deepStrictEqual(row.place(list('x', 'a', 'in use')), { key: 'a' });
  });

  it('is left to VS Code when its row is gone, and kept from there', () => {
    const row = active();
    const rows = list('in use', 'asking');
    row.place(rows);
    row.moved(rows[1]!);
    deepStrictEqual(row.place(list('in use', 'c')), undefined);
    row.moved({ key: 'c' });
    deepStrictEqual(row.place(list('in use', 'b', 'c')), { key: 'c' });
  });
});
