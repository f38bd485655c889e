import { deepStrictEqual } from 'node:assert';
import Module from 'node:module';

class LanguageModelTextPart {
  constructor(readonly value: string) {}
}

/** What the one tool of this VS Code returns. */
let content: readonly unknown[];
const double = {
  lm: { tools: [{ name: 'acme_look', description: 'Looks.', inputSchema: {} }], invokeTool: async () => ({ content }) },
  LanguageModelTextPart,
  CancellationTokenSource: class {
    readonly token = {};
    cancel() {}
    dispose() {}
  },
};

const loader = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
const load = loader._load;

describe('a tool that another extension has given to VS Code', () => {
  before(() => void (loader._load = (request, ...rest) => (request === 'vscode' ? double : load(request, ...rest))));
  after(() => void (loader._load = load));

  it('returns texts as they are, images as such, and of other data what they are', async () => {
    const { editorTools } = await import('../../../../src/vscode/tools/editorTools');
    const data = (mimeType: string, text: string) => ({ mimeType, data: new TextEncoder().encode(text) });
    content = [
      new LanguageModelTextPart('Found:'),
      data('application/json', '{"city":"Köln"}'),
      data('application/ld+json; charset=utf-8', '[]'),
      data('text/csv', 'a,b'),
      data('image/png', 'png'),
      data('audio/wav', 'x'.repeat(12_345)),
      { value: { kind: 'tree' } },
    ];
    const [tool] = editorTools();
    deepStrictEqual(await tool!.run({}, new AbortController().signal), {
      text: [
        'Found:',
        '{"city":"Köln"}',
        '[]',
        'a,b',
        '[image 5: image/png]',
        '[audio/wav, 12,345 bytes: not shown]',
        '{"kind":"tree"}',
      ].join('\n'),
      images: [{ name: 'image 5', bytes: new TextEncoder().encode('png') }],
      status: 'ok',
      shownTokens: 8_000,
    });
  });
});
