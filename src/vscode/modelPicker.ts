import { QuickPickItemKind, window, type QuickPickItem } from 'vscode';
import { ModelError } from '../core/chat/modelError';
import { modelTurnError } from '../core/chat/turnError';
import { errorText } from '../core/errors';
import type { ModelInfo } from '../core/ports';
import { offlineSessionModel } from './modelChoice';
import { shortTokens } from './statusText';

export type PickedModel =
  | { readonly kind: 'model'; readonly model: string | null }
  /** There is no key yet. */
  | { readonly kind: 'set_key' };

export interface ModelPickerInput {
  /** `provider/model` of the session; null: automatic. */
  readonly current: string | null;
  readonly hasKey: boolean;
  /** Rejects with `ModelError`. */
  readonly list: () => Promise<readonly ModelInfo[]>;
}

interface Item extends QuickPickItem {
  readonly picked?: boolean;
  readonly choice?: PickedModel | 'enter';
}

/** Lists what can answer. Undefined when the user has closed the list. */
export async function pickModel(input: ModelPickerInput): Promise<PickedModel | undefined> {
  const picked = await showList(input);
  if (picked !== 'enter') return picked;
  const model = await window.showInputBox({
    title: 'Select Model',
    prompt: 'The id of a model that the API address offers.',
    placeHolder: 'claude-sonnet-5-5',
    ignoreFocusOut: true,
    validateInput: (value) => (/\s/.test(value.trim()) ? 'A model id has no spaces.' : undefined),
  });
  return model?.trim() ? { kind: 'model', model: `anthropic/${model.trim()}` } : undefined;
}

function showList(input: ModelPickerInput): Promise<PickedModel | 'enter' | undefined> {
  const list = window.createQuickPick<Item>();
  list.title = 'Select Model';
  list.placeholder = 'For this session';
  list.matchOnDescription = true;
  const show = (items: readonly Item[]) => {
    list.items = items;
    const current = items.find(({ choice }) => choice !== undefined && choice !== 'enter' && choice.kind === 'model' && choice.model === input.current);
    if (current) list.activeItems = [current];
  };
  return new Promise((resolve) => {
    list.onDidAccept(() => {
      resolve(list.selectedItems[0]?.choice);
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      list.dispose();
    });
    show(fixedItems(input, []));
    list.show();
    if (!input.hasKey) return;
    list.busy = true;
    input
      .list()
      .then(
        (models) => show(fixedItems(input, models.map((model) => modelItem(model, input.current)))),
        (error: unknown) => show([...fixedItems(input, []), { label: '$(warning) The models could not be listed', description: ModelError.is(error) ? modelTurnError(error.failure, '').message : errorText(error) }]),
      )
      .finally(() => (list.busy = false));
  });
}

function fixedItems({ hasKey, current }: ModelPickerInput, models: readonly Item[]): Item[] {
  const mark = (model: string | null) => (model === current ? '$(check) ' : '');
  const claude: Item[] = hasKey
    ? [
        { label: `${mark(null)}Automatic`, description: 'the setting threadkeeper.model, else the newest Sonnet model', choice: { kind: 'model', model: null } },
        ...models,
        { label: '$(edit) Enter a model id…', choice: 'enter' },
      ]
    : [{ label: '$(key) Set API Key…', description: 'to chat with Claude', choice: { kind: 'set_key' } }];
  return [
    { label: 'Claude', kind: QuickPickItemKind.Separator },
    ...claude,
    { label: 'Without a model', kind: QuickPickItemKind.Separator },
    { label: `${mark(offlineSessionModel)}Offline`, description: 'searches history, notes and workspace; writes no answers', choice: { kind: 'model', model: offlineSessionModel } },
  ];
}

function modelItem({ provider, id, name, window: size, maxOutput }: ModelInfo, current: string | null): Item {
  const model = `${provider}/${id}`;
  return { label: `${model === current ? '$(check) ' : ''}${name}`, description: id, detail: `${shortTokens(size)} tokens of context · answers of up to ${shortTokens(maxOutput)}`, choice: { kind: 'model', model } };
}
