import { deepStrictEqual } from 'node:assert';
import { bareTexts, type BareText } from '../support/source/bareTexts';

/** Names, which are the same in every language. */
const names: ReadonlySet<string> = new Set([
  'Claude',
  'Ollama',
  'Threadkeeper',
  'Markdown',
  '| Threadkeeper | | {} | {} | |',
  'set +H; shopt -s interactive_comments; unset',
  'setopt interactivecomments nobanghist nopromptsp; unset',
]);

/** And why each is not translated. */
const exceptions: Readonly<Record<string, string>> = {
  'Malformed message from the view: {}': 'a fault of the program, for the log',
  'Malformed message from the host: {}': 'a fault of the program, for the log',
  '`properties` stands in an element, not in an attribute or child': 'a fault of the program, seen by who changes it',
  '… and more: only {} are listed': 'a part of what is attached, which a model reads',
  '// Written by Threadkeeper: starts its command line for agents that are connected.\nrequire({});\n': 'a comment in a file of code',
  'There is no {}.': 'told to a model',
  'A part of the path {} is a file, not a folder.': 'told to a model',
  '{} exists already.': 'told to a model',
  '{} is read-only or not accessible. Nothing was changed.': 'told to a model',
  '{} cannot be reached at the moment.': 'told to a model',
  '[{}, {} bytes: not shown]': 'told to a model',
};

describe('what a user reads', function () {
  this.timeout(30_000);
  let found: readonly BareText[] = [];
  before(() => (found = bareTexts()));

  it('is in the language of VS Code', () => {
    deepStrictEqual(
      found.filter(({ text }) => !names.has(text) && !Object.hasOwn(exceptions, text)).map(({ place, text }) => `${place}: ${text}`),
      [],
      'Give it to t(); a name that is the same in every language goes into `names` of this test',
    );
  });

  it('has no exception that is not needed', () => {
    deepStrictEqual(
      Object.keys(exceptions).filter((text) => !found.some((one) => one.text === text)),
      [],
    );
  });
});
