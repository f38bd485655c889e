import { window, type Disposable, type TextEditor } from 'vscode';

let last = window.activeTextEditor;

/** From now on `lastTextEditor` knows which one was active. */
export function followTextEditors(): Disposable {
  return window.onDidChangeActiveTextEditor((editor) => {
    if (editor) last = editor;
  });
}

/** The text editor that was active last and still is on show: while a chat in a tab has the keyboard, VS Code names none as active. */
export function lastTextEditor(): TextEditor | undefined {
  return window.activeTextEditor ?? window.visibleTextEditors.find((one) => one === last || one.document === last?.document);
}
