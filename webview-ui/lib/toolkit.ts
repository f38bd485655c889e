import { endToolkitProbe } from './toolkitProbe';
import { provideVSCodeDesignSystem, vsCodeButton, vsCodeProgressRing, vsCodeTextField } from '@vscode/webview-ui-toolkit';

/**
 * The only file that knows the toolkit, which is at its end of life: to replace it, register other elements under
 * `vscode-button`, `vscode-progress-ring` and `vscode-text-field` here. Its badge, tag and data grid are not used, because
 * they write style attributes, which the view's content security policy forbids.
 */
export function registerToolkit(): void {
  endToolkitProbe();
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeProgressRing(), vsCodeTextField());
}
