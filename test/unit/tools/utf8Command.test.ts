import assert from 'node:assert/strict';
import { isCmd, utf8Command } from '../../../src/node/tools/commandRunner';

describe('a command whose output is to be UTF-8', () => {
  it('is given the code page by the shell that runs it, and left alone where there is none', () => {
    const line = 'dir "größer" & exit 3';
    const cases: readonly [NodeJS.Platform, string | undefined, string][] = [
      ['linux', '/bin/sh', line],
      ['darwin', undefined, line],
      ['win32', undefined, `chcp 65001 >nul 2>&1 & ${line}`],
      ['win32', 'C:\\WINDOWS\\system32\\CMD.EXE', `chcp 65001 >nul 2>&1 & ${line}`],
      ['win32', 'C:/Windows/System32/WindowsPowerShell/v1.0/powershell.exe', `[Console]::OutputEncoding = [Text.Encoding]::UTF8; ${line}`],
      ['win32', 'C:\\Program Files\\PowerShell\\7\\pwsh.exe', `[Console]::OutputEncoding = [Text.Encoding]::UTF8; ${line}`],
      ['win32', 'C:\\Program Files\\Git\\bin\\bash.exe', line],
    ];
    for (const [platform, shell, expected] of cases)
      assert.equal(utf8Command(line, platform, shell), expected, `${platform} ${shell ?? ''}`);
  });

  it('has no line ends around it for a shell that runs a single line', () => {
    assert.deepEqual(
      [
        utf8Command('\r\ndir\r\n', 'win32'),
        utf8Command('dir\n', 'win32', 'pwsh.exe'),
        isCmd('win32'),
        isCmd('win32', 'C:\\WINDOWS\\system32\\CMD.EXE'),
        isCmd('win32', 'pwsh.exe'),
        isCmd('linux', '/bin/sh'),
        isCmd('darwin'),
      ],
      ['chcp 65001 >nul 2>&1 & dir', '[Console]::OutputEncoding = [Text.Encoding]::UTF8; dir\n', true, true, false, false, false],
    );
  });
});
