import * as z from 'zod/mini';
import { ViewChannel, type ViewEnd } from '../../src/protocol/channel';
import {
  ArgumentChoices,
  Attachment,
  Attachments,
  Mentions,
  WorkspaceInstructions,
  WrittenReply,
  type ArgumentChoice,
  type AttachSource,
  type Mention,
  type Written,
} from '../../src/protocol/composer';
import { chatWire, FileLinks, OlderPage, type Delta, type ViewRequest, type ViewSnapshot } from '../../src/protocol/messages';
import type { SlashName } from '../../src/protocol/slashCommands';
import { after, transportOf } from './page';
import { Unsent } from './unsent';

/** All that survives hiding the view; everything else comes from the host again. */
const Remembered = z.object({
  session: z.nullable(z.string()),
  anchor: z.nullable(z.object({ id: z.string(), offset: z.number() })),
  expanded: z.array(z.string()),
  unsent: z.optional(Unsent),
  /** What the host finds this page by after a reload of the window. */
  place: z.optional(z.string()),
});
export type Remembered = z.infer<typeof Remembered>;

/** What the components may ask of the other side. Requests reject with `RequestError`. */
export interface Host {
  readonly channel: Pick<ViewChannel<ViewSnapshot, Delta, ViewRequest>, 'request' | 'resync' | 'used' | 'fault'>;
  older(before: string): Promise<OlderPage>;
  unqueue(id: string): Promise<Written>;
  /** The gauge follows. Resolves with whether some of it is too long to be sent whole. */
  measureDraft(draft: Omit<Extract<ViewRequest, { method: 'measure_draft' }>, 'method'>): Promise<boolean>;
  attach(source: AttachSource): Promise<Attachment>;
  attachMenu(): Promise<readonly Attachment[]>;
  mentions(query: string): Promise<readonly Mention[]>;
  argumentsOf(name: SlashName, query: string): Promise<readonly ArgumentChoice[]>;
  instructions(method: 'instructions' | 'choose_instructions'): Promise<WorkspaceInstructions>;
  /** Resolves to those of the links that open as files of the workspace. */
  files(hrefs: readonly string[]): Promise<readonly string[]>;
  /** Resolves to a `data:` address of an image. */
  picture(of: Pick<Attachment, 'hash' | 'mime'>): Promise<string>;
  remembered(): Remembered;
  remember(state: Remembered): void;
}

/** The seam to VS Code; may be called once per document. */
export function connectHost(end: ViewEnd<ViewSnapshot, Delta>): Host {
  const api = acquireVsCodeApi();
  const { place } = document.body.dataset;
  const inPlace = place === undefined ? {} : { place };
  const remembered = (): Remembered => {
    const parsed = Remembered.safeParse(api.getState());
    return parsed.success ? parsed.data : { session: null, anchor: null, expanded: [] };
  };
  // VS Code hands it to the host with an editor that it restores, whatever was done in it.
  if (place !== undefined) api.setState({ ...remembered(), ...inPlace });
  const channel = new ViewChannel(chatWire, transportOf(api), end, { request: patience, snapshot: 10_000 }, after);
  return {
    channel,
    older: async (before) => OlderPage.parse(await channel.request({ method: 'older', before })),
    unqueue: async (id) => WrittenReply.parse(await channel.request({ method: 'unqueue', id })),
    measureDraft: async (draft) => (await channel.request({ method: 'measure_draft', ...draft })) === true,
    attach: async (source) => Attachment.parse(await channel.request({ method: 'attach', source })),
    attachMenu: async () => Attachments.parse(await channel.request({ method: 'attach_menu' })),
    mentions: async (query) => Mentions.parse(await channel.request({ method: 'find_mentions', query })),
    argumentsOf: async (name, query) => ArgumentChoices.parse(await channel.request({ method: 'find_arguments', name, query })),
    instructions: async (method) => WorkspaceInstructions.parse(await channel.request({ method })),
    files: async (hrefs) => FileLinks.parse(await channel.request({ method: 'find_files', hrefs: [...hrefs] })),
    picture: async ({ hash, mime }) =>
      z
        .string()
        .check(z.startsWith('data:image/'))
        .parse(await channel.request({ method: 'attachment_image', hash, mime })),
    remembered,
    remember: (state) => api.setState({ ...state, ...inPlace }),
  };
}

/** Requests that wait for the user or for a model get ten minutes, all others thirty seconds. */
function patience(method: ViewRequest['method']): number {
  switch (method) {
    case 'select_model':
    case 'answer_tool':
    case 'select_policy':
    case 'answer_full':
    case 'set_api_key':
    case 'verify_history':
    case 'save_note':
    case 'attach_menu':
    case 'choose_instructions':
    case 'open_link':
    case 'apply_code':
    case 'run_code':
    case 'compact':
    case 'resummarize':
    case 'reuse_summary':
    case 'undo_compaction':
    case 'checkpoint':
    case 'retry':
    case 'edit':
    case 'regenerate':
    case 'switch_branch':
    case 'restore':
    case 'label':
    case 'summarize_left':
    case 'send':
    case 'slash':
      return 600_000;
    default:
      return 30_000;
  }
}
