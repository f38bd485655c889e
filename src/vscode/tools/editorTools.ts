import { CancellationTokenSource, LanguageModelTextPart, lm, type LanguageModelToolInformation } from 'vscode';
import { t } from '../../core/l10n';
import { withPlainSchema } from '../../core/tools/plainSchema';
import type { Tool, ToolOutcome } from '../../core/tools/tool';
import { sharedToolPrefix } from '../manifest';

/** A result that says nothing else has this limit: more is sent as beginning and end. */
const shownTokens = 8_000;

/** Tools that other extensions and the user's MCP servers have given to VS Code; what they do is not known, so each is asked about. */
export function editorTools(): Tool[] {
  return lm.tools.filter(({ name }) => !name.startsWith(sharedToolPrefix)).map(toTool);
}

function toTool({ name, description, inputSchema }: LanguageModelToolInformation): Tool {
  return {
    // Providers take no other names.
    ...withPlainSchema({ name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64), description, inputSchema: { ...inputSchema } }),
    access: 'write',
    needsApproval: async (input) => ({
      kind: 'tool',
      title: t('Use {0}', name),
      detail: JSON.stringify(input, null, 2) ?? null,
      everyTime: false,
      change: null,
    }),
    async run(input, signal): Promise<ToolOutcome> {
      const source = new CancellationTokenSource();
      const cancel = () => source.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const { content } = await lm.invokeTool(
          name,
          { input: typeof input === 'object' && input !== null ? input : {}, toolInvocationToken: undefined },
          source.token,
        );
        const images = content.flatMap((part, at) => (isImage(part) ? [{ name: `image ${at + 1}`, bytes: part.data }] : []));
        return { text: content.map(partText).join('\n'), ...(images.length > 0 ? { images } : {}), status: 'ok', shownTokens };
      } finally {
        signal.removeEventListener('abort', cancel);
        source.dispose();
      }
    },
  };
}

/** What newer versions of VS Code hand over beside texts: a `LanguageModelDataPart`. */
interface DataPart {
  readonly mimeType: string;
  readonly data: Uint8Array;
}

function isData(part: unknown): part is DataPart {
  if (typeof part !== 'object' || part === null || !('mimeType' in part) || !('data' in part)) return false;
  return part.data instanceof Uint8Array && typeof part.mimeType === 'string';
}

function isImage(part: unknown): part is DataPart {
  return isData(part) && part.mimeType.startsWith('image/');
}

function partText(part: unknown, at: number): string {
  if (part instanceof LanguageModelTextPart) return part.value;
  if (isImage(part)) return `[image ${at + 1}: ${part.mimeType}]`;
  if (isData(part)) return dataText(part);
  const value = typeof part === 'object' && part !== null && 'value' in part ? part.value : part;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function dataText({ mimeType, data }: DataPart): string {
  if (/^text\/|[/+]json\b/i.test(mimeType)) return new TextDecoder().decode(data);
  return `[${mimeType}, ${data.length.toLocaleString('en')} bytes: not shown]`;
}
