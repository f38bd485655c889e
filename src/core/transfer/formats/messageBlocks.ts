import { kept, said, unreadable, type Picture, type RecordPart } from '../sourceRecord';
import { isObject, type Json } from '../../base/json';
import { joinedText, textOf, wordOf } from './foreignJson';
import type { ContentOf } from '../../session/entry';
import { english } from '../../l10n';
import { estimateTokens } from '../../context/measure/estimateTokens';

export interface MessageContext {
  readonly role: 'user' | 'assistant';
  readonly provider?: string;
  readonly model?: string;
  /** Names of the calls so far, by id: results do not repeat them. */
  readonly toolNames: Map<string, string>;
  readonly display?: boolean;
  readonly modelFacing?: boolean;
}

/**
 * The content of a message in the shape of the Messages API (a text, or blocks), which several programs store. A thinking block
 * keeps its signature but not its model: the prompt that it proves was another program's, so it is never sent.
 */
export function messageParts(content: unknown, context: MessageContext): RecordPart[] {
  const { role, toolNames } = context;
  const origin =
    role === 'assistant'
      ? {
          ...(context.provider === undefined ? {} : { provider: context.provider }),
          ...(context.model === undefined ? {} : { model: context.model }),
        }
      : {};
  const flags = { display: context.display ?? true, modelFacing: context.modelFacing ?? true };
  const parts: RecordPart[] = [];
  let pictures: Picture[] = [];
  const message = (text: string) => {
    parts.push(said({ type: 'message', role, text, ...origin }, { ...flags, ...(pictures.length === 0 ? {} : { pictures }) }));
    pictures = [];
  };
  for (const block of typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : Array.isArray(content)
      ? (content as unknown[])
      : []) {
    if (typeof block === 'string') {
      message(block);
      continue;
    }
    if (!isObject(block)) {
      parts.push(kept(unreadable('block', block)));
      continue;
    }
    switch (block['type']) {
      case 'text':
        if (textOf(block['text']) !== undefined && (block['text'] !== '' || pictures.length > 0)) message(String(block['text']));
        break;
      case 'image': {
        const picture = pictureOf(block);
        const before = parts.at(-1);
        if (picture && before?.content.type === 'message')
          parts[parts.length - 1] = { ...before, pictures: [...(before.pictures ?? []), picture] };
        else if (picture) pictures.push(picture);
        else parts.push(kept(unreadable('image', block)));
        break;
      }
      case 'thinking':
      case 'redacted_thinking': {
        const signature = textOf(block['signature'] ?? block['thinkingSignature']);
        const sealed = textOf(block['data']);
        parts.push(
          said(
            {
              type: 'thinking',
              text: textOf(block['thinking']) ?? '',
              ...(signature === undefined ? {} : { signature }),
              ...(sealed === undefined ? {} : { redactedData: sealed }),
              ...(context.provider === undefined ? {} : { provider: context.provider }),
            },
            flags,
          ),
        );
        break;
      }
      case 'tool_use':
      case 'toolCall':
      case 'server_tool_use': {
        const [callId, name] = [textOf(block['id']) ?? '', textOf(block['name']) ?? 'tool'];
        toolNames.set(callId, name);
        parts.push(said({ type: 'tool_call', callId, name, input: block['input'] ?? block['arguments'] ?? {}, ...origin }, flags));
        break;
      }
      case 'tool_result':
        parts.push(...toolResultParts(textOf(block['tool_use_id']) ?? '', toolNames, block['content'], block['is_error'] === true, flags));
        break;
      default:
        parts.push(kept(unreadable(`block:${wordOf(block['type'])}`, block)));
    }
  }
  if (pictures.length > 0) message('');
  return parts;
}

/** Pictures within a result cannot be sent again as such: the text says so, and they are kept raw. */
export function toolResultParts(
  callId: string,
  toolNames: ReadonlyMap<string, string>,
  content: unknown,
  isError: boolean,
  flags: Pick<RecordPart, 'display' | 'modelFacing'>,
): RecordPart[] {
  const others = Array.isArray(content)
    ? content.filter((block: unknown) => !(typeof block === 'string' || (isObject(block) && typeof block['text'] === 'string')))
    : content === undefined || typeof content === 'string'
      ? []
      : [content];
  const notes = others.map(
    (block: unknown) =>
      `[${isObject(block) ? wordOf(block['type'] ?? 'object') : typeof block}: kept with the imported history, not shown here]`,
  );
  const text = [joinedText(content), ...notes].filter((part) => part !== '').join('\n');
  return [
    said({ type: 'tool_result', callId, name: toolNames.get(callId) ?? 'tool', text, status: isError ? 'error' : 'ok' }, flags),
    ...others.map((block: unknown) => kept(unreadable('result_block', block))),
  ];
}

/** `{source: {type: 'base64', media_type, data}}` of the Messages API, or `{data, mimeType}`, or `{data, mediaType}`. */
function pictureOf(block: Json): Picture | undefined {
  const source = isObject(block['source']) ? block['source'] : block;
  const mime = textOf(source['media_type'] ?? source['mimeType'] ?? source['mediaType']);
  const data = textOf(source['data']);
  return mime === undefined || data === undefined ? undefined : { mime, data };
}

/** Another program's compaction, so that the projection goes on from its summary. `firstKept` names a record. */
export function foreignCompaction(
  operationId: string,
  summaryText: string,
  firstKept: string | null,
  tokensBefore: number,
  more: Partial<ContentOf<'compaction'>> = {},
): ContentOf<'compaction'> {
  return {
    type: 'compaction',
    operationId,
    summaryText,
    firstKeptEntry: firstKept,
    coversFrom: null,
    tokensBefore,
    tokensAfter: estimateTokens(summaryText),
    messagesBefore: 0,
    messagesAfter: 0,
    trigger: 'automatic',
    rung: summaryText.trim() === '' ? 'truncate' : 'model',
    model: null,
    durationMs: 0,
    heldMs: 0,
    needsSummaryRetry: false,
    note: english('Made by the program that this session was imported from.'),
    ...more,
  };
}
