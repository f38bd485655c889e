import type { View, ViewOptions } from './openView';
import { assistant, noon, tool, user } from './fixtures';

export interface ViewState {
  readonly name: string;
  readonly options: ViewOptions;
  /** Brings the view into the state after it has loaded. */
  readonly act?: (view: View) => Promise<void>;
}

export const answer = [
  'The tokenizer reads each character **once**, so the cost is linear. Two things slow it down:',
  '',
  '1. `slice` in the inner loop copies every token.',
  '2. The keyword table is searched with a regular expression.',
  '',
  '```ts',
  '// Interned, so that equal names are the same string.',
  'const names = new Map<string, number>();',
  '',
  'export function intern(name: string): number {',
  '  const known = names.get(name) ?? names.size + 1; // 1, 2, 3 …',
  '  names.set(name, known);',
  '  return known;',
  '}',
  '```',
  '',
  '| variant | tokens/s | memory |',
  '|---|---:|---:|',
  '| slice | 1.2 M | 48 MB |',
  '| interned | 3.9 M | 11 MB |',
  '',
  '> Measured on the fixture of the issue.',
  '',
  'More in [the notes](https://example.org/notes).',
].join('\n');

export const talk = [
  user('u1', 'Why is the tokenizer slow on large files? Please measure before you change anything.'),
  { kind: 'thinking' as const, id: 't1', at: noon, text: 'The loop *slices* for every token.', durationMs: 4200, folded: false },
  tool('c1'),
  tool('c2', {
    name: 'run_command',
    input: '{"command":"npm run bench -- tokenizer --iterations 200"}',
    status: 'error',
    output: 'Error: no such benchmark',
  }),
  assistant('a1', answer),
];
