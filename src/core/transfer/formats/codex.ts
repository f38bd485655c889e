import { english } from '../../l10n';
import { isObject, type Json } from '../../base/json';
import { kept, noted, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { joinedText, numberOf, parseForeign, textOf, timeOf, wordOf } from './foreignJson';
import { foreignCompaction, messageParts, toolResultParts } from './messageBlocks';

/** What Codex tells the model in the user's name begins like this; versions before 0.150 say it in no other way. */
const injected = /^\s*(?:<(?:environment_context|user_instructions|permissions|skills_instructions|turn_aborted|subagent)|# AGENTS\.md)/;
/** The log that it shows: the same content again. Of these nothing is kept. */
const shownAgain = new Set(['event_msg', 'world_state']);

/**
 * Rollout files of Codex, a line at a time: `response_item` is what the model sees, and all that is read; `event_msg` repeats it for the
 * screen. Lines follow each other, and are named by their place.
 */
export class CodexReader {
  private sessionId = '';
  private model = 'unknown';
  private provider = 'openai';
  private readonly toolNames = new Map<string, string>();

  read(value: unknown, line: number, hash: string, fallbackId: string): SourceEvent[] {
    const payload = isObject(value) && isObject(value['payload']) ? value['payload'] : {};
    if (isObject(value) && value['type'] === 'session_meta' && this.sessionId === '') return this.header(payload, fallbackId);
    const begun = this.begin(fallbackId);
    const record = (parts: readonly RecordPart[]): SourceEvent[] => [
      ...begun,
      {
        type: 'record',
        record: { id: `L${line}`, parent: undefined, at: isObject(value) ? timeOf(value['timestamp']) : null, hash, parts },
      },
    ];
    if (!isObject(value)) return record([kept(unreadable('line', value))]);
    switch (value['type']) {
      case 'response_item':
        return record(this.item(payload));
      case 'turn_context':
        return [...record([]), ...this.turn(payload)];
      case 'compacted':
        return record([noted(foreignCompaction(`${this.sessionId}/L${line}/${hash}`, summaryOf(payload), null, 0))]);
      case 'token_usage_record':
        return record(this.usage(payload));
      case 'event_msg':
        // A title that the user gave; all else of this log stands in the other one.
        return payload['type'] === 'thread_name_updated' && textOf(payload['thread_name']) !== undefined
          ? [...begun, { type: 'title', title: String(payload['thread_name']), rank: 2 }]
          : begun;
      default:
        if (shownAgain.has(wordOf(value['type']))) return begun;
        // A fork repeats what its parent was called.
        return record([kept(unreadable(wordOf(value['type'] ?? 'line'), value))]);
    }
  }

  private header(meta: Json, fallbackId: string): SourceEvent[] {
    this.sessionId = textOf(meta['id']) ?? fallbackId;
    this.provider = textOf(meta['model_provider']) ?? this.provider;
    const createdAt = timeOf(meta['timestamp']);
    const base = isObject(meta['history_base']) ? textOf(meta['history_base']['thread_id']) : undefined;
    const parentSession = textOf(meta['forked_from_id']) ?? base;
    return [
      {
        type: 'session',
        session: {
          id: this.sessionId,
          cwd: textOf(meta['cwd']) ?? null,
          ...(createdAt === null ? {} : { createdAt }),
          ...(parentSession === undefined ? {} : { metadata: { parentSession } }),
        },
      },
    ];
  }

  private begin(fallbackId: string): SourceEvent[] {
    if (this.sessionId !== '') return [];
    this.sessionId = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(fallbackId)?.[0] ?? fallbackId;
    return [
      { type: 'session', session: { id: this.sessionId } },
      { type: 'repaired', kind: english('missing header') },
    ];
  }

  private turn(context: Json): SourceEvent[] {
    this.model = textOf(context['model']) ?? this.model;
    const cwd = textOf(context['cwd']);
    return cwd === undefined ? [] : [{ type: 'cwd', cwd }];
  }

  private item(item: Json): RecordPart[] {
    const callId = textOf(item['call_id']) ?? textOf(item['id']) ?? '';
    switch (item['type']) {
      case 'message':
        return this.message(item);
      case 'reasoning': {
        const text = [joinedText(item['summary']), joinedText(item['content'])].filter((one) => one !== '').join('\n');
        return text === '' ? [] : [said({ type: 'thinking', text, provider: this.provider })];
      }
      case 'function_call':
        return this.call(callId, item['name'], parsed(item['arguments']));
      case 'custom_tool_call':
        return this.call(callId, item['name'], { input: item['input'] });
      case 'local_shell_call':
        return this.call(callId, 'shell', item['action']);
      case 'web_search_call':
        return [...this.call(callId, 'web_search', item['action']), ...this.result(callId, '', false)];
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const output = item['output'];
        const content = isObject(output) ? output['content'] : output;
        return this.result(callId, withTexts(content), isObject(output) && output['success'] === false);
      }
      default:
        return [kept(unreadable(wordOf(item['type'] ?? 'item'), item))];
    }
  }

  private message(item: Json): RecordPart[] {
    const { role } = item;
    const content = withTexts(item['content']);
    if (role === 'assistant') return messageParts(content, { role, toolNames: this.toolNames, provider: this.provider, model: this.model });
    if (role !== 'user') return [kept(unreadable(`role:${wordOf(role)}`, item))];
    const passed = item['internal_chat_message_metadata_passthrough'];
    const kinds: unknown = isObject(passed) ? passed['content_item_kinds'] : undefined;
    const isTyped = Array.isArray(kinds) ? kinds.includes('user.text') : !injected.test(joinedText(content));
    return messageParts(content, { role, toolNames: this.toolNames, display: isTyped });
  }

  private call(id: string, name: unknown, input: unknown): RecordPart[] {
    return messageParts([{ type: 'tool_use', id, name, input }], {
      role: 'assistant',
      toolNames: this.toolNames,
      provider: this.provider,
      model: this.model,
    });
  }

  private result(id: string, content: unknown, isError: boolean): RecordPart[] {
    return toolResultParts(id, this.toolNames, content, isError, { display: true, modelFacing: true });
  }

  private usage(payload: Json): RecordPart[] {
    const usage = isObject(payload['usage']) ? payload['usage'] : {};
    const [all, cacheRead, cacheWrite, output] = [
      usage['input_tokens'],
      usage['cached_input_tokens'],
      usage['cache_write_input_tokens'],
      usage['output_tokens'],
    ].map(numberOf) as [number, number, number, number];
    const input = Math.max(0, all - cacheRead - cacheWrite);
    const spent = { provider: this.provider, model: this.model, input, output, cacheRead, cacheWrite, cost: null };
    return all + output === 0 ? [] : [{ ...kept(unreadable('token_usage', usage)), usage: spent }];
  }
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' ? (parseForeign(text)?.value ?? text) : (text ?? {});
}

/** Blocks in the words of the Messages API. */
function withTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((block: unknown) => {
    if (!isObject(block)) return block;
    if (block['type'] === 'input_text' || block['type'] === 'output_text') return { type: 'text', text: block['text'] };
    const picture = /^data:([\w/+.-]+);base64,(.*)$/s.exec(textOf(block['image_url']) ?? '');
    return block['type'] === 'input_image' && picture ? { type: 'image', mimeType: picture[1], data: picture[2] } : block;
  });
}

/** The model goes on from this list; the summary is one of its messages. */
function summaryOf(payload: Json): string {
  const message = textOf(payload['message']) ?? '';
  if (message !== '' || !Array.isArray(payload['replacement_history'])) return message;
  return payload['replacement_history']
    .filter(isObject)
    .map((item) => joinedText(withTexts(item['content'])))
    .filter((text) => text !== '' && !injected.test(text))
    .join('\n\n');
}
