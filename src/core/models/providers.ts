/** Who can answer. The compiler asks for each of them how it is reached, called and named. */
export const providerIds = ['anthropic', 'openai-compatible', 'ollama', 'vscode'] as const;
export type ProviderId = (typeof providerIds)[number];

export function isProviderId(name: string): name is ProviderId {
  return providerIds.some((id) => id === name);
}
