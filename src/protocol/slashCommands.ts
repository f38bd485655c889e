import * as z from 'zod/mini';
import { t } from '../core/l10n';

interface SlashCommand {
  readonly does: () => string;
  /** What may follow it. */
  readonly argument: (() => string) | null;
  /** The argument is one of a few: the host names them while it is typed. */
  readonly isCompleted?: true;
}

/** What can be typed behind a slash at the beginning of a message: menu, help and what the host carries out derive from it. */
export const slashCommands = {
  compact: { does: () => t('Compact the older part of the conversation into a summary'), argument: () => t('what to keep') },
  undo: { does: () => t('Undo the last compaction'), argument: null },
  checkpoint: { does: () => t('Save a snapshot of what was decided so far'), argument: null },
  pin: { does: () => t('Keep a text in front of the model through every compaction'), argument: () => t('text') },
  breakdown: { does: () => t('Show what takes up the context'), argument: null },
  model: { does: () => t('Choose the model of this session'), argument: () => t('name'), isCompleted: true },
  policy: { does: () => t('Choose how the context is managed'), argument: () => t('name'), isCompleted: true },
  thinking: { does: () => t('Set how much the model thinks'), argument: () => t('level'), isCompleted: true },
  plan: { does: () => t('Turn Plan mode on or off'), argument: null },
  tools: { does: () => t('Choose the tools of this session'), argument: null },
  new: { does: () => t('Begin a new session'), argument: null },
  rename: { does: () => t('Rename this session'), argument: () => t('title') },
  switch: { does: () => t('Switch to another session'), argument: null },
  branch: { does: () => t('Switch to another branch of this session'), argument: null },
  fork: { does: () => t('Go on in a copy of this session'), argument: null },
  search: { does: () => t('Search the history'), argument: () => t('words') },
  ask: { does: () => t('Ask a single question without any history'), argument: () => t('question') },
  export: { does: () => t('Export this session'), argument: null },
  analytics: { does: () => t('Show how the history has grown and what it cost'), argument: null },
  memory: { does: () => t("Open the model's notes"), argument: null },
  log: { does: () => t('Show the log'), argument: null },
  help: { does: () => t('Open the walkthrough: what there is, step by step'), argument: null },
} as const satisfies Readonly<Record<string, SlashCommand>>;

export type SlashName = keyof typeof slashCommands;
export const slashNames = Object.keys(slashCommands) as SlashName[];
export const SlashName = z.enum(slashNames as [SlashName, ...SlashName[]]);

export function completesArgument(name: string): name is SlashName {
  return isSlashName(name) && 'isCompleted' in slashCommands[name];
}

/** `/compact keep the ports`: a word of letters behind a slash at the very beginning; `/usr/bin` and ` /etc` are text. */
export function parseSlash(text: string): { readonly name: string; readonly argument: string } | null {
  const match = /^\/([a-z]+)(?:\s([\s\S]*))?$/i.exec(text.trimEnd());
  return match ? { name: match[1]!.toLowerCase(), argument: (match[2] ?? '').trim() } : null;
}

export function isSlashName(name: string): name is SlashName {
  return Object.hasOwn(slashCommands, name);
}
