/**
 * The command line such that its output is UTF-8, which it is read as. Windows' own programs, PowerShell and most others write in the code
 * page of their console (850, 936, …), and so the console that is made for the command is given that of UTF-8 first. Not by decoding what
 * comes in the console's code page: git, Node, cargo and go write UTF-8 whatever that is, and would come out wrong.
 *
 * `shell`: what Node starts for `shell: true` there.
 */
export function utf8Command(command: string, platform: NodeJS.Platform, shell = 'cmd.exe'): string {
  if (platform !== 'win32') return command;
  const name = shell.toLowerCase().split(/[\\/]/).at(-1)!;
  // The exit code is that of the last command.
  if (/^cmd(?:\.exe)?$/.test(name)) return `chcp 65001 >nul 2>&1 & ${command}`;
  return /^(?:powershell|pwsh)(?:\.exe)?$/.test(name) ? `[Console]::OutputEncoding = [Text.Encoding]::UTF8; ${command}` : command;
}
