import { workspace, type WorkspaceConfiguration } from 'vscode';
import { DisposableStore, type Disposable } from '../core/base/disposable';
import { Emitter } from '../core/base/event';
import type { PolicyProblem } from '../core/context/policy/resolvePolicy';
import type { Logger } from '../core/ports';
import { settingsPrefix } from './manifest';
import { defaultsOf, readSettings, type Settings, type SettingsSource } from './settingsValues';

/** Has the user's settings, as VS Code merges them, without those that an untrusted workspace may not set. */
export class Configuration implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidChange = this.disposables.add(new Emitter<Settings>());
  readonly onDidChange = this._onDidChange.event;
  private readonly _onDidFindProblem = this.disposables.add(new Emitter<PolicyProblem>());
  /** Fires once for each value that cannot be used. */
  readonly onDidFindProblem = this._onDidFindProblem.event;
  private readonly reported = new Set<string>();
  private values: Settings;
  private found: readonly PolicyProblem[] = [];
  private readonly defaultOf: SettingsSource['default'];

  constructor(
    packageJson: unknown,
    private readonly log: Logger,
  ) {
    this.defaultOf = defaultsOf(packageJson);
    this.values = this.read();
    this.disposables.add(
      workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration(settingsPrefix)) return;
        this.values = this.read();
        this._onDidChange.fire(this.values);
      }),
    );
    // A trusted workspace may set what it could not before.
    this.disposables.add(
      workspace.onDidGrantWorkspaceTrust(() => {
        this.values = this.read();
        this._onDidChange.fire(this.values);
      }),
    );
  }

  get current(): Settings {
    return this.values;
  }

  get problems(): readonly PolicyProblem[] {
    return this.found;
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private read(): Settings {
    const section = workspace.getConfiguration(settingsPrefix);
    const read = readSettings({
      value: (name) => section.get(name),
      explicit: (name) => setValue(section.inspect(name)),
      default: this.defaultOf,
    });
    this.found = read.problems;
    for (const problem of read.problems) {
      const id = `${problem.setting} ${problem.message}`;
      if (this.reported.has(id)) continue;
      this.reported.add(id);
      this.log.warn('setting_not_usable', { setting: problem.setting, detail: problem.message });
      this._onDidFindProblem.fire(problem);
    }
    return read.settings;
  }
}

/** Finds what was set nearest to the workspace. `get` would mix the default's properties into an object. */
function setValue(found: ReturnType<WorkspaceConfiguration['inspect']>): unknown {
  return found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
}
