import { window, type QuickPickItem } from 'vscode';
import { thinkingLevels, thinkingTokens, type ThinkingLevel } from '../core/context/thinkingLevel';

interface Item extends QuickPickItem {
  readonly level: ThinkingLevel | null;
}

const names: Readonly<Record<ThinkingLevel, string>> = { off: 'Off', low: 'Low', medium: 'Medium', high: 'High' };

/** Null: as the model does by itself; undefined when the list was closed. */
export async function pickThinkingLevel(current: ThinkingLevel | null): Promise<ThinkingLevel | null | undefined> {
  const mark = (level: ThinkingLevel | null) => (level === current ? '$(check) ' : '');
  const items: Item[] = [
    { label: `${mark(null)}Automatic`, description: 'as the model does by itself', level: null },
    ...thinkingLevels.map((level) => ({ label: `${mark(level)}${names[level]}`, description: level === 'off' ? 'answers at once, where the model can' : `about ${thinkingTokens[level].toLocaleString('en')} tokens before an answer`, level })),
  ];
  const picked = await window.showQuickPick(items, { title: 'Set Thinking Level', placeHolder: 'For this session; a change makes the provider read the conversation anew once' });
  return picked?.level;
}
