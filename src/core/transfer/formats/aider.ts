import { noted, said, type RecordPart, type SourceEvent } from '../sourceRecord';
import { timeOf } from './foreignJson';

type Kind = 'user' | 'assistant' | 'note';

const begins = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$/;

/**
 * `.aider.chat.history.md`: Markdown to which every run of aider appends. Each run is a session; `#### ` is the user, `> ` the program, the
 * rest the model. What an answer quotes looks the same as the program's words: the file holds no more. `place` names the folder.
 */
export function aiderEvents(text: string, cwd: string, place: string, hashOf: (value: unknown) => string): SourceEvent[] {
  const events: SourceEvent[] = [];
  let block: string[] = [];
  let kind = 'assistant' as Kind;
  let [count, isOpen] = [0, false];
  const close = () => {
    const content = block.join('\n').trim();
    block = [];
    if (content === '' || !isOpen) return;
    const part: RecordPart =
      kind === 'note'
        ? noted({ type: 'custom_message', customType: 'aider', text: content })
        : said({ type: 'message', role: kind, text: content, ...(kind === 'assistant' ? { provider: 'aider', model: 'unknown' } : {}) });
    events.push({
      type: 'record',
      record: { id: `b${count++}`, parent: undefined, at: null, hash: hashOf([kind, content]), parts: [part] },
    });
  };
  const lines = text.split('\n');
  // The rest of the last one is still to come.
  if (!text.endsWith('\n')) lines.pop();
  for (const raw of lines) {
    const line = raw.replace(/\r$/, '');
    const begun = begins.exec(line);
    if (begun) {
      close();
      [count, isOpen, kind] = [0, true, 'assistant' as Kind];
      const createdAt = timeOf(begun[1]!.replace(' ', 'T'));
      events.push({ type: 'session', session: { id: `${place}/${begun[1]!}`, cwd, ...(createdAt === null ? {} : { createdAt }) } });
      continue;
    }
    const next: Kind = line.startsWith('#### ') ? 'user' : /^>(?: |$)/.test(line) ? 'note' : line.trim() === '' ? kind : 'assistant';
    if (next !== kind) close();
    kind = next;
    block.push(kind === 'user' ? line.replace(/^#### ?/, '').trimEnd() : kind === 'note' ? line.replace(/^> ?/, '').trimEnd() : line);
  }
  close();
  return events;
}
