import type { EntryContent } from '../session/entry';

/**
 * Summaries cite entries by their number in the store (`#12`). Where an import has to give out other numbers, the citations follow
 * them, so that they still lead to what they are about.
 */
export class Renumbering {
  private readonly numbers = new Map<number, number>();
  private changed = false;

  note(before: number, now: number): void {
    this.numbers.set(before, now);
    this.changed ||= before !== now;
  }

  apply(content: EntryContent): EntryContent {
    if (!this.changed) return content;
    if (content.type === 'compaction')
      return {
        ...content,
        summaryText: this.inText(content.summaryText),
        ...(content.summary === undefined ? {} : { summary: this.inValue(content.summary) }),
      };
    if (content.type === 'checkpoint') {
      const all = (lines: readonly string[]) => lines.map((line) => this.inText(line));
      return {
        ...content,
        summary: this.inText(content.summary),
        topics: all(content.topics),
        keyDecisions: all(content.keyDecisions),
        openQuestions: all(content.openQuestions),
      };
    }
    return content;
  }

  private inText(text: string): string {
    return text.replace(/#(\d+)\b/g, (cited, number: string) => {
      const now = this.numbers.get(Number(number));
      return now === undefined ? cited : `#${now}`;
    });
  }

  private inValue(value: unknown): unknown {
    if (typeof value === 'string') return this.inText(value);
    if (Array.isArray(value)) return value.map((one) => this.inValue(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.inValue(one)]));
  }
}
