import { deepStrictEqual } from 'node:assert';
import { wantedModel } from '../../../../src/vscode/models/modelChoice';

describe('wantedModel', () => {
  it("takes the session's model first, then offline mode if it was chosen, then the setting", () => {
    const cases = [
      { session: 'anthropic/claude-a', setting: 'claude-b', offlineChosen: true },
      { session: 'offline/offline', setting: 'claude-b', offlineChosen: false },
      { session: null, setting: 'claude-b', offlineChosen: true },
      { session: null, setting: 'claude-b', offlineChosen: false },
      { session: null, setting: 'anthropic/claude-b', offlineChosen: false },
      { session: null, setting: 'offline', offlineChosen: false },
      { session: null, setting: '', offlineChosen: false },
      { session: 'openai-compatible/meta-llama/llama-3', setting: '', offlineChosen: true },
      { session: 'vscode/copilot/gpt-5', setting: '', offlineChosen: false },
      { session: null, setting: 'ollama/llama3.1:8b', offlineChosen: false },
      { session: null, setting: 'us.anthropic/claude-x', offlineChosen: false },
    ];
    deepStrictEqual(cases.map(wantedModel), [
      { provider: 'anthropic', model: 'claude-a' },
      { provider: 'offline' },
      { provider: 'offline' },
      { provider: 'anthropic', model: 'claude-b' },
      { provider: 'anthropic', model: 'claude-b' },
      { provider: 'offline' },
      { provider: 'automatic' },
      { provider: 'openai-compatible', model: 'meta-llama/llama-3' },
      { provider: 'vscode', model: 'copilot/gpt-5' },
      { provider: 'ollama', model: 'llama3.1:8b' },
      { provider: 'anthropic', model: 'us.anthropic/claude-x' },
    ]);
  });
});
