import { window, workspace } from 'vscode';

/** A text of the program's own, in an editor of its own. */
export async function showText(content: string, language: string): Promise<void> {
  await window.showTextDocument(await workspace.openTextDocument({ content, language }), { preview: true });
}
