import { Emitter } from '../../core/base/event';
import type { Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import type { ModelInfo } from '../../core/models/modelInfo';
import { modelFromTable } from '../../node/models/modelTable';
import { offlineModelId } from '../../node/runtime/modelBindings';
import type { WindowState } from '../chat/windowState';

/** A router lists some 500 models. */
const mostNames = 2_000;

/**
 * What models are called. Entries keep the id of the model only; a name is remembered for good once its provider has said it, so
 * that an answer goes by it when another model, or another provider, is in use.
 */
export class ModelNames implements Disposable {
  private readonly _onDidLearn = new Emitter<ReadonlySet<string>>();
  /** The ids whose name was asked for in vain before. */
  readonly onDidLearn = this._onDidLearn.event;
  private readonly known: Map<string, string>;
  private readonly missed = new Set<string>();

  constructor(private readonly memory: Pick<WindowState, 'modelNames' | 'setModelNames'>) {
    this.known = new Map(memory.modelNames());
  }

  /** The id where nobody has said a name. */
  of(id: string): string {
    if (id === offlineModelId) return t('Offline');
    const name = this.known.get(id) ?? modelFromTable('anthropic', id)?.name;
    if (name === undefined && id !== '') this.missed.add(id);
    return name ?? id;
  }

  learn(models: readonly ModelInfo[]): void {
    const news = models.filter(
      ({ id, name, source }) => source === 'provider' && name !== id && name !== '' && this.known.get(id) !== name,
    );
    if (news.length === 0) return;
    for (const { id, name } of news) {
      // Behind the others: what was not heard of for longest is forgotten first.
      this.known.delete(id);
      this.known.set(id, name);
    }
    for (const id of [...this.known.keys()].slice(0, -mostNames)) this.known.delete(id);
    void this.memory.setModelNames([...this.known]);
    const wanted = new Set(news.flatMap(({ id }) => (this.missed.delete(id) ? [id] : [])));
    if (wanted.size > 0) this._onDidLearn.fire(wanted);
  }

  dispose(): void {
    this._onDidLearn.dispose();
  }
}
