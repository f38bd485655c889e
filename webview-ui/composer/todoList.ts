import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { ViewSnapshot } from '../../src/protocol/messages';
import { icon } from '../render/icons';
import { ViewElement } from '../lib/viewElement';

type Todos = NonNullable<ViewSnapshot['todos']>;
type State = Todos[number]['status'];

const stateText: Readonly<Record<State, () => string>> = {
  pending: () => t('Not started'),
  in_progress: () => t('In progress'),
  done: () => t('Done'),
};

/** The model's to-do list: one line that says how far it is and what is being done, or all of it. */
export class TodoListView extends ViewElement {
  static override properties = { todos: { attribute: false }, open: { state: true } };
  todos: Todos = [];
  private open = false;

  protected override render(): TemplateResult | typeof nothing {
    const { todos, open } = this;
    if (todos.length === 0) return nothing;
    const done = todos.filter(({ status }) => status === 'done').length;
    const current = todos.find(({ status }) => status === 'in_progress') ?? todos.find(({ status }) => status === 'pending');
    return html`<section class="todos" aria-label=${t('To-do list')}>
      <button type="button" class="todos-head" aria-expanded=${open ? 'true' : 'false'} aria-controls="todo-items" @click=${() => (this.open = !open)}>
        ${icon(open ? 'chevronDown' : 'chevronRight')}<span class="todos-count">${t('{0} of {1} done', done, todos.length)}</span>
        ${open || !current ? nothing : html`<span class="todos-current">${current.text}</span>`}
      </button>
      <ul id="todo-items" ?hidden=${!open}>
        ${todos.map(
          ({ text, status }) => html`<li class="todo ${status}">
            <span class="todo-box" aria-hidden="true">${status === 'done' ? icon('check') : status === 'in_progress' ? icon('chevronRight') : nothing}</span>
            <span class="sr-only">${stateText[status]()}: </span><span class="todo-text">${text}</span>
          </li>`,
        )}
      </ul>
    </section>`;
  }
}
