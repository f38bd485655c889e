/** Words by which a shell changes itself: names, variables, options, its folder. */
const shellWords = new Set(
  'alias unalias abbr export declare typeset local readonly set unset shopt setopt unsetopt source . eval exec trap umask ulimit hash enable bind function cd pushd popd builtin command emulate autoload zmodload'.split(
    ' ',
  ),
);

/** One program with plain arguments leaves its shell as it was; of anything else nobody can say. */
export function leavesShell(command: string): boolean {
  const [first = ''] = command.trim().split(/\s+/);
  return /^[\p{L}\p{N} _@+=:,./-]+$/u.test(command) && !first.includes('=') && !shellWords.has(first);
}
