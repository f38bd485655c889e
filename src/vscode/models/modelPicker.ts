import { QuickPickItemKind, window, type QuickPickItem } from 'vscode';
import { ModelError } from '../../core/models/modelEvent';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { ModelInfo } from '../../core/models/modelInfo';
import type { ProviderId } from '../../core/models/providers';
import { ActiveRow } from './activeRow';
import { offlineSessionModel } from './modelChoice';
import { modelDetail, whyNotListed } from './modelTexts';
import { shortTokens } from '../../protocol/figures';

export type PickedModel =
  | { readonly kind: 'model'; readonly model: string | null }
  /** There is no key or no address yet. */
  | { readonly kind: 'set_key'; readonly provider: 'anthropic' | 'openai-compatible' }
  /** How much it thinks is to be chosen. */
  | { readonly kind: 'thinking' };

export interface ModelGroup {
  readonly provider: ProviderId;
  readonly title: string;
  /** What has to be done before there is anything to list; null: nothing. */
  readonly needs: 'key' | 'address' | null;
  /** Rejects with `ModelError`. */
  readonly list: () => Promise<readonly ModelInfo[]>;
}

export interface ModelPickerInput {
  /** `provider/model` of the session; null: automatic. */
  readonly current: string | null;
  readonly groups: readonly ModelGroup[];
  /** What a model is called, by its id. */
  readonly nameOf: (id: string) => string;
  /** What a model costs, in words. */
  readonly price: (provider: string, model: string) => string;
  /** Tokens of the conversation, which another model reads anew. */
  readonly tokens: number;
}

interface Item extends QuickPickItem {
  readonly choice?: PickedModel | { readonly kind: 'enter'; readonly provider: ProviderId };
}

/** How long models that have come in wait for others, and for what the user does meanwhile. */
const settleMs = 100;

type GroupState = readonly ModelInfo[] | { readonly problem: string } | 'asking';

/** Lists what can answer, by provider, with the reason where one offers nothing. Undefined when the user has closed the list. */
export async function pickModel(input: ModelPickerInput): Promise<PickedModel | undefined> {
  const picked = await showList(input);
  if (picked?.kind !== 'enter') return picked;
  const model = await window.showInputBox({
    title: t('Select Model'),
    prompt: t('The id of a model as the provider has it.'),
    placeHolder: picked.provider === 'anthropic' ? 'claude-sonnet-5-5' : 'llama3.1:8b',
    ignoreFocusOut: true,
    validateInput: (value) => (/\s/.test(value.trim()) ? t('A model id has no spaces.') : undefined),
  });
  return model?.trim() ? { kind: 'model', model: `${picked.provider}/${model.trim()}` } : undefined;
}

function showList(input: ModelPickerInput): Promise<Item['choice']> {
  const list = window.createQuickPick<Item>();
  const states = new Map<ProviderId, GroupState>();
  list.title = t('Select Model');
  list.placeholder =
    input.tokens > 0 ? t('For this session. Switching sends {0} tokens again, once', shortTokens(input.tokens)) : t('For this session');
  list.matchOnDescription = true;
  const active = new ActiveRow<Item>(keyOf({ label: '', choice: { kind: 'model', model: input.current } }), keyOf);
  list.onDidChangeActive(([row]) => row && active.moved(row));
  let open = true;
  let due: NodeJS.Timeout | undefined;
  const show = () => {
    due = undefined;
    if (!open) return;
    const items = itemsOf(input, states);
    list.items = items;
    const row = active.place(items);
    if (row) list.activeItems = [row];
    list.busy = [...states.values()].includes('asking');
  };
  // A move of the user is heard of some time after it was made: a list replaced in between would take it back.
  const showSoon = () => void (due ??= setTimeout(show, settleMs));
  return new Promise((resolve) => {
    list.onDidAccept(() => {
      const choice = list.selectedItems[0]?.choice;
      // A line that only says what is wrong.
      if (!choice) return;
      resolve(choice);
      list.hide();
    });
    list.onDidHide(() => {
      open = false;
      resolve(undefined);
      list.dispose();
    });
    for (const { provider, needs, list: ask } of input.groups) {
      if (needs !== null) continue;
      states.set(provider, 'asking');
      void ask()
        .then(
          (models) => states.set(provider, models.length > 0 ? models : { problem: whyNotListed(provider, null) }),
          (error: unknown) =>
            states.set(provider, {
              problem: whyNotListed(provider, ModelError.is(error) ? error.failure : { reason: 'server', detail: errorText(error) }),
            }),
        )
        .then(showSoon);
    }
    show();
    list.show();
  });
}

function itemsOf(input: ModelPickerInput, states: ReadonlyMap<ProviderId, GroupState>): Item[] {
  const { current, groups, price, nameOf } = input;
  const mark = (model: string | null) => (model === current ? '$(check) ' : '');
  const listed = [...states.values()]
    .flatMap((state) => (Array.isArray(state) ? (state as readonly ModelInfo[]) : []))
    .find((info) => `${info.provider}/${info.id}` === current);
  const chosen = (model: string): Item =>
    listed
      ? modelItem(listed, mark, price(listed.provider, listed.id))
      : { label: `${mark(model)}${nameOf(model.slice(model.indexOf('/') + 1))}`, description: model, choice: { kind: 'model', model } };
  const items: Item[] = [
    // First, and not again in its list: Enter keeps what is in use.
    ...(current === null ? [] : [current === offlineSessionModel ? offlineItem(mark) : chosen(current)]),
    {
      label: `${mark(null)}${t('Automatic')}`,
      description: t('the setting threadkeeper.model, else the newest Sonnet model'),
      choice: { kind: 'model', model: null },
    },
    {
      label: `$(lightbulb) ${t('Set Thinking Level…')}`,
      description: t('how much the model thinks before it answers'),
      choice: { kind: 'thinking' },
    },
  ];
  for (const { provider, title, needs } of groups) {
    items.push({ label: title, kind: QuickPickItemKind.Separator });
    if (needs !== null && (provider === 'anthropic' || provider === 'openai-compatible')) {
      const label = needs === 'key' ? `$(key) ${t('Set API Key…')}` : `$(server) ${t('Set Address and API Key…')}`;
      items.push({
        label,
        description: provider === 'anthropic' ? t('to chat with Claude') : t('OpenRouter, LM Studio, vLLM, llama.cpp, LiteLLM and others'),
        choice: { kind: 'set_key', provider },
      });
      continue;
    }
    const state = states.get(provider) ?? 'asking';
    if (state === 'asking') items.push({ label: `$(loading~spin) ${t('Asking…')}` });
    else if ('problem' in state) items.push({ label: `$(warning) ${t('Nothing to choose')}`, detail: state.problem, alwaysShow: true });
    else
      for (const info of state)
        if (`${info.provider}/${info.id}` !== current) items.push(modelItem(info, mark, price(info.provider, info.id)));
    if (provider !== 'vscode') items.push({ label: `$(edit) ${t('Enter a model id…')}`, choice: { kind: 'enter', provider } });
  }
  if (current !== offlineSessionModel) items.push({ label: t('Without a model'), kind: QuickPickItemKind.Separator }, offlineItem(mark));
  return items;
}

/** What the user sees of it may change while it stays the same row. */
function keyOf({ choice, label }: Item): string {
  return choice ? JSON.stringify(choice) : label;
}

function offlineItem(mark: (model: string | null) => string): Item {
  return {
    label: `${mark(offlineSessionModel)}${t('Offline')}`,
    description: t('searches history, notes and workspace; writes no answers'),
    choice: { kind: 'model', model: offlineSessionModel },
  };
}

function modelItem(info: ModelInfo, mark: (model: string | null) => string, price: string): Item {
  const model = `${info.provider}/${info.id}`;
  return { label: `${mark(model)}${info.name}`, description: info.id, detail: modelDetail(info, price), choice: { kind: 'model', model } };
}
