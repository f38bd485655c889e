import { foldNames } from '../../core/tools/guard/workspacePath';

/**
 * Whether a recorded path names something in its folder, and nothing that Git keeps there. Records come from imported histories too: each
 * of them may say anything.
 */
export function isRestorable(path: string, platform: NodeJS.Platform = process.platform): boolean {
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.includes('\0') || isGit(name))) return false;
  // There a stroke the other way parts names as well, a colon opens a stream or a drive, and devices have names.
  const ofWindows = /[\\:*?"<>|]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)\s*(?:\.|$)/i;
  return platform !== 'win32' || !names.some((name) => ofWindows.test(name));
}

/** Under whichever name a file system finds it, the short one of Windows among them. */
function isGit(name: string): boolean {
  return foldNames(name) === '.git' || /^git~\d+$/i.test(name);
}
