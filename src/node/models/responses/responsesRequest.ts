import type { ModelBlock, ModelMessage, ModelRequest } from '../../../core/models/modelRequest';
import { fittingId, imagesOf, joined, resultText, textOf } from '../openai/chatCompletionRequest';
import type { OpenaiDialect } from '../openai/openaiDialect';
import { plainName, systemRuns, asToolInput, sealedContent, type Run } from '../requestParts';

type Item = Readonly<Record<string, unknown>>;

/** The API refuses a smaller limit. */
const leastOutput = 16;

/**
 * The request as the Responses API takes it. Nothing is kept at the provider (`store: false`): the whole conversation is sent each
 * time, and the model's reasoning comes sealed and goes back with it. Items are sent without the ids that the provider gave them:
 * it would look for them in its store.
 */
export function responsesBody(request: ModelRequest, dialect: OpenaiDialect): Record<string, unknown> {
  const head = [request.system, request.systemSummary ?? ''].filter((text) => text.trim() !== '').join('\n\n');
  return {
    model: request.model,
    ...(head === '' ? {} : { instructions: head }),
    input: joined(request.messages).flatMap((message) => items(message, dialect)),
    stream: true,
    store: false,
    max_output_tokens: Math.max(leastOutput, request.maxOutputTokens),
    ...(dialect.reasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    ...reasoning(request, dialect),
    ...(request.answerSchema && dialect.schemas
      ? { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: request.answerSchema } } }
      : {}),
    // Here `strict` is true unless it is said, and a schema with an optional field is refused then.
    ...(request.tools.length > 0
      ? {
          tools: request.tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            name,
            description,
            parameters: inputSchema,
            strict: false,
          })),
        }
      : {}),
  };
}

function reasoning({ thinking }: ModelRequest, { least, reasoning: reasons, reasoningShown }: OpenaiDialect): Record<string, unknown> {
  const effort = thinking && least ? { effort: thinking === 'off' ? least : thinking } : {};
  const asked = { ...effort, ...(reasons && reasoningShown && least && thinking !== 'off' ? { summary: 'auto' } : {}) };
  return Object.keys(asked).length === 0 ? {} : { reasoning: asked };
}

function items({ role, blocks }: ModelMessage, dialect: OpenaiDialect): Item[] {
  return role === 'user' ? userItems(blocks, dialect) : assistantItems(blocks, dialect.reasoning);
}

/** Results stand directly behind their calls. */
function userItems(blocks: readonly ModelBlock[], { images, systemInside }: OpenaiDialect): Item[] {
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [{ type: 'function_call_output', call_id: fittingId(block.callId), output: resultText(block) }] : [],
  );
  const runs = systemInside ? systemRuns(blocks) : [{ as: 'user', blocks } as const];
  return [...results, ...runs.flatMap((run) => saidItem(run, images))];
}

function saidItem({ as, blocks }: Run, images: boolean): Item[] {
  const text = textOf(blocks, !images);
  const pictures = images
    ? imagesOf(blocks).map(({ mime, data }) => ({ type: 'input_image', detail: 'auto', image_url: `data:${mime};base64,${data}` }))
    : [];
  const content = [...(text === '' ? [] : [{ type: 'input_text', text }]), ...pictures];
  return content.length === 0 ? [] : [{ type: 'message', role: as, content }];
}

/** Reasoning that nothing of the answer follows is left out: the API refuses it, and an answer that was stopped has such. */
function assistantItems(blocks: readonly ModelBlock[], reasons: boolean): Item[] {
  const wire = blocks.flatMap((block) => assistantItem(block, reasons));
  const said = wire.findLastIndex((item) => item['type'] !== 'reasoning');
  return wire.slice(0, said + 1);
}

function assistantItem(block: ModelBlock, reasons: boolean): Item[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === ''
        ? []
        : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: block.text, annotations: [] }] }];
    case 'thinking': {
      const encrypted = reasons ? sealedContent(block) : undefined;
      if (encrypted === undefined) return [];
      return [
        { type: 'reasoning', summary: block.text === '' ? [] : [{ type: 'summary_text', text: block.text }], encrypted_content: encrypted },
      ];
    }
    case 'tool_use':
      return [
        {
          type: 'function_call',
          call_id: fittingId(block.callId),
          name: plainName(block.name, longestName),
          arguments: JSON.stringify(asToolInput(block.input)),
        },
      ];
    case 'image':
    case 'tool_result':
      return [];
  }
}

/** A function's name has at most so many characters. */
const longestName = 64;
