import { workspace, type WorkspaceConfiguration } from 'vscode';
import { DisposableStore, type Disposable } from '../core/base/disposable';
import { Emitter } from '../core/base/event';
import type { PolicyProblem } from '../core/context/policy/resolvePolicy';
import type { Logger } from '../core/ports';
import { settings, settingsPrefix } from './manifest';
import { readSettings, type Settings } from './settingsValues';

/** The user's settings, as VS Code merges them (without those that an untrusted workspace may not set). */
export class Configuration implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidChange = this.disposables.add(new Emitter<Settings>());
  readonly onDidChange = this._onDidChange.event;
  private readonly _onDidFindProblem = this.disposables.add(new Emitter<PolicyProblem>());
  /** A value that cannot be used; fires once for each. */
  readonly onDidFindProblem = this._onDidFindProblem.event;
  private readonly reported = new Set<string>();
  private values: Settings;
  private found: readonly PolicyProblem[] = [];

  constructor(private readonly log: Logger) {
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
    const read = readSettings(
      (name) => section.get(settings[name].key),
      (name) => setValue(section.inspect(name)),
    );
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

/** What was set nearest to the workspace. Not `get`: that mixes the default's properties into an object. Restricted ones are of the machine's scope. */
function setValue(found: ReturnType<WorkspaceConfiguration['inspect']>): unknown {
  return found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
}
