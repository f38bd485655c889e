import { chosenVersion } from '../vscode/vscodeInstall';

/** VS Code's own themes, one of each kind, by the names that the setting has in the VS Code of the run. */
export const themes = {
  ...(chosenVersion() === '1.100'
    ? { dark: 'Default Dark Modern', light: 'Default Light Modern' }
    : { dark: 'Dark Modern', light: 'Light Modern' }),
  'high-contrast': 'Default High Contrast',
  'high-contrast-light': 'Default High Contrast Light',
} as const;
