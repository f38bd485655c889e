import { deepStrictEqual } from 'node:assert';
import { callArguments, hitSnippet } from '../../../src/core/recall/answers/callText';

const call = (name: string, text: string, start = 0) => ({ speaker: `call of ${name}`, text, start });
const written = (name: string, input: unknown) => call(name, `${name} ${JSON.stringify(input)}`);

describe('the input of a call among what was found', () => {
  it('is its arguments, the most telling first, and its values as they were given', () => {
    deepStrictEqual(
      [
        written('read_file', { limit: 20, path: 'src/tide.ts' }),
        written('run_command', { command: 'grep "low tide" *.md', timeout: 5, flags: ['-n'] }),
        written('edit', { path: 'a.ts', before: 'one\n\ttwo', after: 'say "three"' }),
        written('think', { thought: 'Tides come twice.' }),
        written('list', {}),
        written('odd', 'only text'),
        { speaker: 'user', text: 'read_file {"path":"a"}', start: 0 },
      ].map(callArguments),
      [
        'src/tide.ts · limit: 20',
        'grep "low tide" *.md · timeout: 5 · flags: ["-n"]',
        'a.ts · before: one\n\ttwo · after: say "three"',
        'thought: Tides come twice.',
        '{}',
        '"only text"',
        null,
      ],
    );
  });

  it('is read where a passage has only its beginning, or a part of it', () => {
    const all = `write_file ${JSON.stringify({ content: 'first "line"\nsecond \\ line', path: 'a.ts' })}`;
    deepStrictEqual(
      [all.slice(0, 40), all.slice(0, 35), all.slice(0, 43)].map((text) => callArguments(call('write_file', text))),
      ['content: first "line"\ns', 'content: first "line', 'content: first "line"\nseco'],
    );
    deepStrictEqual(callArguments(call('write_file', all.slice(31), 31)), 'line"\nsecond \\ line","path":"a.ts"}');
  });

  it('is one line around what was found, and says of what call that is', () => {
    const far = `${'Nothing of note. '.repeat(30)}The beacon is lit at dusk.`;
    deepStrictEqual(
      [
        hitSnippet(written('read_file', { path: 'src/beacon.ts' }), ['beacon'], 60),
        hitSnippet(written('write_file', { content: far, path: 'log.md' }), ['beacon'], 60),
        hitSnippet({ speaker: 'result of read_file', text: 'A beacon.', start: 0 }, ['beacon'], 60),
      ],
      [
        'read_file src/beacon.ts',
        'write_file log.md · content: Nothing of note. Nothing of not… …of note. Nothing of note. The beacon is lit at dusk.',
        'A beacon.',
      ],
    );
  });
});
