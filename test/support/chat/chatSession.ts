import { MessagesApi } from '../messagesApi/messagesApi';
import { ChatPage } from '../view/chatPage';
import { openVscode, type VscodeOptions, type VscodeSession } from '../vscode/openVscode';

/** A VS Code with a key and a provider double; the model under test has a small window so that few messages fill it. */
export interface ChatSession extends VscodeSession {
  readonly api: MessagesApi;
  readonly chat: ChatPage;
}

export const smallModel = 'claude-test';

export async function openChat(options: VscodeOptions & { readonly window?: number; readonly key?: string } = {}): Promise<ChatSession> {
  const { window = 12_000, key, ...rest } = options;
  const api = await MessagesApi.start();
  api.setModel(smallModel, { window, maxOutput: 1_000 });
  try {
    const session = await openVscode({
      ...rest,
      env: { ANTHROPIC_API_KEY: key ?? api.apiKey, ...rest.env },
      settings: { 'threadkeeper.anthropic.baseUrl': api.url, 'threadkeeper.model': smallModel, ...rest.settings },
    });
    const close = async () => {
      await session.close();
      await api.close();
    };
    return { ...session, api, chat: new ChatPage(session.workbench), close };
  } catch (error) {
    await api.close();
    throw error;
  }
}

/** About this many tokens of words that do not repeat. */
export function words(tokens: number, seed: number): string {
  return Array.from({ length: tokens }, (_, i) => `term${(i * 31 + seed * 7919) % 9973}`)
    .join(' ')
    .slice(0, tokens * 4);
}
