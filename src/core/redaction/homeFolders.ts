/** The name ends where a part of a path ends. */
const part = String.raw`[^/\\\s"'\x60<>|:*?()\[\]{},;]{1,64}`;

/** A path begins, or one of the folders that home folders lie in on some system. */
const beginning = String.raw`(?:(?<![A-Za-z0-9_.-])|[A-Za-z](?::|%3A)|\\[nrt]|/var|/usr|/export|/mnt/[a-z]|/[a-z]|/System/Volumes/Data|/host_mnt|/host_mnt/[a-z]|/data|/wsl\$/[A-Za-z0-9.-]{1,32}|localhost|vscode-remote://[A-Za-z0-9.+%-]{1,64})`;

/** However they are written: `/home/name`, `/Users/name`, `/var/home/name`, `/mnt/c/Users/name`, `C:\Users\name`, and `-home-name-`, which some programs name folders for. */
const folders: readonly RegExp[] = [
  // Windows: a name with blanks in it ends with the next part of the path.
  /((?:[A-Za-z]:|\\\\[A-Za-z0-9.$-]{1,64})(?:\\{1,4}[A-Za-z0-9.$ -]{1,40})?\\{1,4}(?:Users|home|Documents and Settings)\\{1,4})(?:[^\\/:*?"<>|\r\n]{1,64}(?=\\)|[^\\/\s"'`<>|:*?]{1,64})/gi,
  new RegExp(String.raw`(/(?:home|Users)/(?<=${beginning}/(?:home|Users)/))${part}`, 'gi'),
  new RegExp(String.raw`(%2F(?:home|Users)%2F)[^%/\s"'\x60<>&?]{1,64}`, 'gi'),
  // A flag (`--home-page`) and a word (`my-home-page`) are none.
  /((?<![A-Za-z0-9-])(?:-(?:var|mnt-[a-z]|export))?-(?:home|Users)-|(?<![A-Za-z0-9])[A-Za-z]--Users-)[A-Za-z0-9_.]{1,64}(?=-)/g,
];

/** With `user` in place of the user's name. */
export function withoutHomeFolders(text: string): string {
  return folders.reduce((safe, folder) => safe.replace(folder, '$1user'), text);
}
