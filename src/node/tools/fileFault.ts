/** What went wrong with a file, in words. */
export function fileFault(error: unknown, name: string): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${name} is read-only or not accessible. Nothing was changed.`;
    case 'EEXIST':
      return `${name} exists already.`;
    case 'ENOENT':
      return `There is no ${name}.`;
    case 'ENOTDIR':
      return `A part of the path ${name} is a file, not a folder.`;
    case 'EISDIR':
      return `${name} is a folder.`;
    case 'ENOSPC':
      return `The disk is full: ${name} was not written completely. Look at it before you go on.`;
    default:
      return `${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
