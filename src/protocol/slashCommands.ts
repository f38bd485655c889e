import * as z from 'zod/mini';

/** What can be typed behind a slash at the beginning of a message: menu, help and what the host carries out derive from it. */
export const slashCommands = {
  compact: { does: 'Fold the older part of the conversation into a summary', argument: 'what to keep' },
  undo: { does: 'Undo the last compaction', argument: null },
  checkpoint: { does: 'Write a checkpoint of what was decided so far', argument: null },
  pin: { does: 'Keep a text in front of the model through every compaction', argument: 'text' },
  breakdown: { does: 'Show what takes up the context', argument: null },
  model: { does: 'Choose the model of this session', argument: 'name' },
  policy: { does: 'Choose how the context is managed', argument: 'name' },
  thinking: { does: 'Set how much the model thinks', argument: null },
  tools: { does: 'Choose the tools of this session', argument: null },
  new: { does: 'Begin a new session', argument: null },
  rename: { does: 'Rename this session', argument: 'title' },
  switch: { does: 'Switch to another session', argument: null },
  branch: { does: 'Switch to another branch of this session', argument: null },
  fork: { does: 'Go on in a copy of this session', argument: null },
  search: { does: 'Search the history', argument: 'words' },
  ask: { does: 'Ask a single question without any history', argument: 'question' },
  export: { does: 'Export this session', argument: null },
  analytics: { does: 'Show how the history has grown and what it cost', argument: null },
  memory: { does: "Open the model's notes", argument: null },
  log: { does: 'Show the log', argument: null },
} as const satisfies Readonly<Record<string, { readonly does: string; readonly argument: string | null }>>;

export type SlashName = keyof typeof slashCommands;
export const slashNames = Object.keys(slashCommands) as SlashName[];
export const SlashName = z.enum(slashNames as [SlashName, ...SlashName[]]);

/** `/compact keep the ports`: a word of letters behind a slash at the very beginning; `/usr/bin` and ` /etc` are text. */
export function parseSlash(text: string): { readonly name: string; readonly argument: string } | null {
  const match = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd());
  return match ? { name: match[1]!.toLowerCase(), argument: (match[2] ?? '').trim() } : null;
}

export function isSlashName(name: string): name is SlashName {
  return Object.hasOwn(slashCommands, name);
}
