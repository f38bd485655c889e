import * as vscode from 'vscode';

/** Newer than the API that the project is built against: VS Code 1.104 and later have it. */
interface ChatProvider {
  provideLanguageModelChatInformation(): unknown[];
  provideLanguageModelChatResponse(
    model: unknown,
    messages: readonly vscode.LanguageModelChatMessage[],
    options: { readonly tools?: readonly { readonly name: string }[] },
    progress: vscode.Progress<unknown>,
    token: vscode.CancellationToken,
  ): Promise<void>;
  provideTokenCount(): Promise<number>;
}

interface NewerLm {
  registerLanguageModelChatProvider(vendor: string, provider: ChatProvider): vscode.Disposable;
}

const server = process.env['ACME_URL'] ?? '';

/**
 * An extension that brings a model and a tool, and uses those of Threadkeeper: what it is told goes to the server at `ACME_URL`, which
 * answers.
 */
export function activate(context: vscode.ExtensionContext): void {
  const lm = vscode.lm as typeof vscode.lm & NewerLm;
  context.subscriptions.push(
    lm.registerLanguageModelChatProvider('acme', {
      provideLanguageModelChatInformation: () => [
        {
          id: 'tide-1',
          name: 'Acme Tide',
          family: 'tide',
          version: '1',
          maxInputTokens: 16_000,
          maxOutputTokens: 2_000,
          capabilities: { toolCalling: true, imageInput: false },
          requiresAuthorization: true,
        },
      ],
      provideLanguageModelChatResponse: answer,
      // As some vendors: the same for every message.
      provideTokenCount: async () => 4,
    }),
    vscode.lm.registerTool('acme_tide', {
      invoke: ({ input }) =>
        new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(`High water in ${(input as { port: string }).port}: 3.2 m`)]),
    }),
    vscode.commands.registerCommand('acme.askThreadkeeper', async () => {
      const calls = [
        ['threadkeeper_searchSessions', { query: 'lighthouse\u202E\u200B **white** [here](command:workbench.action.quit)', days: 3 }],
        ['threadkeeper_recall', { query: 'lighthouse' }],
        ['threadkeeper_searchSessions', { query: 'lighthouse' }],
        ['threadkeeper_notes', {}],
      ] as const;
      for (const [name, input] of calls) {
        const told = await vscode.lm
          .invokeTool(name, { input, toolInvocationToken: undefined })
          .then(textOf, (error: unknown) => String(error));
        await send('/told', { name, told });
      }
    }),
  );
}

const answer: ChatProvider['provideLanguageModelChatResponse'] = async (_model, messages, { tools = [] }, progress, token) => {
  const abort = new AbortController();
  token.onCancellationRequested(() => abort.abort());
  const response = await send(
    '/chat',
    { messages: messages.map(({ role, content }) => ({ role, parts: content.map(wirePart) })), tools: tools.map(({ name }) => name) },
    abort.signal,
  );
  if (!response.ok) throw new Error(await response.text());
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { text, call } = JSON.parse(line) as { text?: string; call?: { callId: string; name: string; input: object } };
      if (text !== undefined) progress.report(new vscode.LanguageModelTextPart(text));
      if (call) progress.report(new vscode.LanguageModelToolCallPart(call.callId, call.name, call.input));
    }
  }
};

function wirePart(part: unknown): unknown {
  if (part instanceof vscode.LanguageModelTextPart) return { text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart) return { call: { callId: part.callId, name: part.name, input: part.input } };
  if (part instanceof vscode.LanguageModelToolResultPart)
    return {
      result: {
        callId: part.callId,
        text: part.content.map((one) => (one instanceof vscode.LanguageModelTextPart ? one.value : '')).join(''),
      },
    };
  return { unknown: JSON.stringify(part) };
}

function textOf({ content }: vscode.LanguageModelToolResult): string {
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : JSON.stringify(part))).join('\n');
}

function send(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server}${path}`, { method: 'POST', body: JSON.stringify(body), ...(signal ? { signal } : {}) });
}
