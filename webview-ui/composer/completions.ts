import { html, nothing, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit';
import type { ArgumentChoice, AttachSource, Mention } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';
import { slashCommands, slashNames, completesArgument, type SlashName } from '../../src/protocol/slashCommands';
import { Debounce } from '../lib/debounce';
import { icon, type IconName } from '../render/icons';

export interface CompletionsHost extends ReactiveControllerHost {
  readonly text: string;
  readonly caret: number;
  findArguments(command: SlashName, query: string): Promise<readonly ArgumentChoice[]>;
  findMentions(query: string): Promise<readonly Mention[]>;
  /** Puts `text` in the place of what was typed. */
  replace(trigger: Trigger, text: string): void;
  attach(source: AttachSource): void;
  announce(text: string): void;
  runSlash(): void;
}

/** Short enough to feel immediate; a search is ended by the next one. */
const pauseMs = 100;

/*
 * The menu over the composer:
 *
 *   closed ──`@` or `/` is typed──▶ open ──chosen, Escape, the caret leaves──▶ closed
 *
 * Nothing happens while an input method composes: the composer does not call then.
 */
export class Completions implements ReactiveController {
  choices: readonly Choice[] = [];
  active = 0;
  private trigger: Trigger | null = null;
  /** What the choices were found for: while a search is running, what was typed may have gone on. */
  private shownFor: Trigger | null = null;
  /** Enter (true) or Tab was pressed while a search ran, and is for what that finds. */
  private pressed: boolean | null = null;
  /** Where Escape closed the menu: it stays closed until another word is begun. */
  private dismissedAt = -1;
  private readonly search = new Debounce<Trigger>(pauseMs, (trigger) => void this.find(trigger));

  constructor(private readonly host: CompletionsHost) {
    host.addController(this);
  }

  hostDisconnected(): void {
    this.close();
  }

  /** The text or the caret has changed. */
  update(): void {
    const trigger = triggerAt(this.host.text, this.host.caret);
    if (!trigger) this.dismissedAt = -1;
    if (!trigger || trigger.start === this.dismissedAt) return this.close();
    this.trigger = trigger;
    this.pressed = null;
    // What is shown is of another word, or of a command whose argument begins now.
    if (this.shownFor && !isSameWord(this.shownFor, trigger)) this.show([], null);
    if (trigger.kind === 'slash') this.show(slashChoices(trigger, this.host), trigger);
    else this.search.call(() => trigger);
  }

  close(): void {
    this.search.cancel();
    this.trigger = null;
    this.pressed = null;
    if (this.choices.length > 0) this.show([], null);
  }

  /** True when the key was meant for the menu. */
  keydown(event: KeyboardEvent): boolean {
    const count = this.choices.length;
    if (count === 0) return false;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
      this.move((this.active + (event.key === 'ArrowDown' ? 1 : count - 1)) % count);
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) this.press(event.key === 'Enter');
    else if (event.key === 'Escape') {
      this.dismissedAt = this.trigger?.start ?? -1;
      this.close();
    } else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Who has not moved to a row means the first one of what was typed, and may be faster than its search. */
  private press(run: boolean): void {
    if (this.shownFor === this.trigger || this.active > 0) this.choices[this.active]?.choose(run);
    else this.pressed = run;
  }

  private move(to: number): void {
    this.active = to;
    this.host.requestUpdate();
    const choice = this.choices[to];
    if (choice) this.host.announce(`${choice.label} ${choice.detail}`);
  }

  private show(choices: readonly Choice[], trigger: Trigger | null): void {
    if (choices.length > 0 && this.choices.length === 0)
      this.host.announce(choices.length === 1 ? t('One suggestion') : t('{0} suggestions', choices.length));
    this.choices = choices;
    this.shownFor = trigger;
    this.active = 0;
    this.host.requestUpdate();
  }

  private async find(trigger: Trigger): Promise<void> {
    // Without an answer there is nothing to offer; what was typed stays.
    const choices = await this.asked(trigger).catch(() => []);
    if (this.trigger !== trigger) return;
    const { pressed } = this;
    this.pressed = null;
    this.show(choices, trigger);
    if (pressed !== null) this.choices[0]?.choose(pressed);
  }

  /** The place of what was typed by now, if it is still the word that was looked for. */
  private placeOf(trigger: Trigger): Trigger {
    return this.trigger && isSameWord(this.trigger, trigger) ? this.trigger : trigger;
  }

  private async asked(trigger: Trigger): Promise<Choice[]> {
    const { query, command } = trigger;
    if (command === undefined) return (await this.host.findMentions(query)).map((mention) => this.mentionChoice(trigger, mention));
    return (await this.host.findArguments(command, query)).map((choice) => this.argumentChoice(trigger, choice));
  }

  private argumentChoice(trigger: Trigger, { value, label, detail }: ArgumentChoice): Choice {
    const choose = (run: boolean) => {
      const place = this.placeOf(trigger);
      this.close();
      this.host.replace(place, value);
      if (run) this.host.runSlash();
    };
    return { label, detail, icon: null, choose };
  }

  private mentionChoice(trigger: Trigger, { source, label, detail, icon }: Mention): Choice {
    const choose = () => {
      const place = this.placeOf(trigger);
      this.close();
      this.host.replace(place, `${trigger.sign ?? '@'}${source.kind === 'path' ? source.path : label.toLowerCase()} `);
      this.host.attach(source);
    };
    return { label, detail, icon: mentionIcons[icon], choose };
  }
}

const mentionIcons = {
  file: 'file',
  folder: 'folder',
  selection: 'insert',
  problems: 'warning',
  terminal: 'chevronRight',
  changes: 'branch',
} as const satisfies Record<Mention['icon'], IconName>;

function slashChoices(trigger: Trigger, host: CompletionsHost): Choice[] {
  return slashNames.filter((name) => name.startsWith(trigger.query)).map((name) => slashChoice(name, trigger, host));
}

function slashChoice(name: SlashName, trigger: Trigger, host: CompletionsHost): Choice {
  const { does, argument } = slashCommands[name];
  return {
    label: argument === null ? `/${name}` : `/${name} [${argument()}]`,
    detail: does(),
    icon: null,
    choose: (run) => {
      // Who has typed all of it and presses Enter means it as it stands.
      const isWhole = argument === null || trigger.query === name;
      host.replace(trigger, run && isWhole ? `/${name}` : `/${name} `);
      if (run && isWhole) host.runSlash();
    },
  };
}

export interface Trigger {
  readonly kind: 'mention' | 'slash' | 'argument';
  /** The command that an argument follows. */
  readonly command?: SlashName;
  /** `@` or `#`, as it was typed. */
  readonly sign?: string;
  readonly query: string;
  /** Where the text begins and ends that a choice replaces. */
  readonly start: number;
  readonly end: number;
}

function isSameWord(one: Trigger, other: Trigger): boolean {
  return one.kind === other.kind && one.start === other.start;
}

/**
 * What the text in front of the caret asks for: `@` or `#` behind a space, a slash as the very first character, or what follows such a
 * command.
 */
function triggerAt(text: string, caret: number): Trigger | null {
  // Longer words are no names that anyone types: a long paste costs nothing.
  const before = text.slice(Math.max(0, caret - 200), caret);
  const mention = /(?:^|[\s(])([@#])([^\s@#]*)$/.exec(before);
  if (mention) return { kind: 'mention', sign: mention[1]!, query: mention[2]!, start: caret - mention[2]!.length - 1, end: caret };
  const argument = caret <= 200 ? /^\/([a-z]+)[ \t]+(\S*)$/i.exec(before) : null;
  const command = argument?.[1]!.toLowerCase() ?? '';
  if (argument && completesArgument(command))
    return { kind: 'argument', command, query: argument[2]!, start: caret - argument[2]!.length, end: caret };
  const slash = caret <= 200 ? /^\/([a-z]*)$/i.exec(before) : null;
  return slash ? { kind: 'slash', query: slash[1]!.toLowerCase(), start: 0, end: caret } : null;
}

interface Choice {
  readonly label: string;
  readonly detail: string;
  /** Null: all of them are of one kind. */
  readonly icon: IconName | null;
  /** `run`: chosen with Enter; a Tab only completes. */
  readonly choose: (run: boolean) => void;
}

export const completionListId = 'completions';
export const choiceId = (index: number): string => `completion-${index}`;

/** What `@` and `/` offer. The focus stays in the text: the chosen one is named to a screen reader by `aria-activedescendant`. */
export function completionMenu(choices: readonly Choice[], active: number): TemplateResult | typeof nothing {
  if (choices.length === 0) return nothing;
  return html`<ul id=${completionListId} class="completions" role="listbox" aria-label=${t('Suggestions')}>
    ${choices.map(
      (choice, index) => html`<li
        id=${choiceId(index)}
        role="option"
        aria-selected=${index === active}
        title=${`${choice.label} ${choice.detail}`.trim()}
        class=${index === active ? 'active' : ''}
        @mousedown=${(event: Event) => event.preventDefault()}
        @click=${() => choice.choose(true)}
      >
        ${choice.icon === null ? nothing : icon(choice.icon)}<span class="completion-label">${choice.label}</span><span class="completion-detail">${choice.detail}</span>
      </li>`,
    )}
  </ul>`;
}
