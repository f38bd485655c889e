/**
 * Test files that take more than 15 s and are not among the largest, the longest of each suite first: begun last, one of them would run
 * alone while the other cores have nothing to do.
 */
export const longFiles = [
  'unit/compaction/faultMatrix',
  'unit/transfer/importFuzz',
  'unit/packaging',
  'unit/hostileText',
  'unit/redaction/redactTime',
  'unit/sync/engines',
  'webview/states',
  'webview/languages',
  'webview/panels/panels',
  'webview/hostile/fuzz',
  'vscode/ui/themes',
  'vscode/ui/context/promptCache',
  'vscode/ui/history/relink',
  'vscode/ui/history/readonly',
  'vscode/ui/whyLine',
] as const;
