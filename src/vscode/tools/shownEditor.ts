import { TabInputText, TabInputTextDiff, window, type Tab, type Uri } from 'vscode';

/**
 * An editor of documents of ours that was opened for a question, and is closed when that is answered. One that the user has kept, pinned
 * or by a double click, stays.
 */
export class ShownEditor {
  private readonly uris: ReadonlySet<string>;
  private readonly wasPreview: boolean;

  /** `title`: that of an editor over several files, which VS Code does not always tell the documents of. */
  constructor(
    uris: readonly Uri[],
    private readonly title: string | null = null,
  ) {
    this.uris = new Set(uris.map((uri) => uri.toString()));
    // A user who has no preview editors could not keep this one by making it a lasting one.
    this.wasPreview = this.tabs().some(({ isPreview }) => isPreview);
  }

  async close(): Promise<void> {
    const over = this.tabs().filter(({ isPinned, isPreview, isDirty }) => !isPinned && !isDirty && (isPreview || !this.wasPreview));
    if (over.length > 0) await window.tabGroups.close(over, true);
  }

  private tabs(): Tab[] {
    return window.tabGroups.all.flatMap(({ tabs }) => tabs).filter((tab) => this.isOurs(tab));
  }

  private isOurs({ input, label }: Tab): boolean {
    const uris = urisOf(input);
    return uris.length > 0 ? uris.some((uri) => this.uris.has(uri.toString())) : this.title !== null && label.startsWith(this.title);
  }
}

function urisOf(input: unknown): readonly Uri[] {
  if (input instanceof TabInputText) return [input.uri];
  if (input instanceof TabInputTextDiff) return [input.original, input.modified];
  // Its class is not among what an extension may name.
  const { textDiffs } = (typeof input === 'object' && input !== null ? input : {}) as { readonly textDiffs?: unknown };
  return Array.isArray(textDiffs) ? textDiffs.flatMap(urisOf) : [];
}
