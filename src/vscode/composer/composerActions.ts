import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands, Uri, window, workspace } from 'vscode';
import { t } from '../../core/l10n';
import { imageTypes, type Attachment } from '../../core/session/userMessage';
import type { IdSource, SessionStore } from '../../core/ports';
import type { ArgumentChoice, AttachSource, Mention } from '../../protocol/composer';
import type { SlashName } from '../../protocol/slashCommands';
import type { ChatController } from '../chat/chatController';
import { type CommandName } from '../manifest';
import { arrivingBlob } from './arrivingBlob';
import { AttachMenu } from './attachMenu';
import { AttachmentMaker, type AttachmentMakerDeps } from './attachmentMaker';
import { fileOf, openWalkthrough } from './editorActions';
import { pickMemoryNote, type NoteFolders } from '../context/memoryNotes';
import { InstructionChoices, type InstructionChoicesDeps } from './instructionChoices';
import { PlanActions } from './planActions';
import { SlashRunner, type SlashRunnerDeps } from './slashRunner';
import { lastTextEditor } from '../lastTextEditor';

export interface ComposerActionsDeps extends Omit<SlashRunnerDeps, 'switchMode' | 'openHelp'> {
  readonly controller: ChatController;
  readonly store: () => Promise<SessionStore>;
  readonly counter: AttachmentMakerDeps['counter'];
  readonly workspace: AttachmentMakerDeps['workspace'];
  readonly instructions: InstructionChoicesDeps['files'];
  readonly memory: InstructionChoicesDeps['memory'];
  readonly noteFolders: () => Promise<NoteFolders>;
  readonly ids: IdSource;
  readonly focusComposer: () => void;
  /** Brings the chat to the front. */
  readonly reveal: () => Promise<void>;
}

export type ComposerCommandName = Extract<CommandName, 'addSelection' | 'addFile' | 'openMemoryNotes' | 'togglePlanMode'>;

/** What the composer asks for besides sending, and the commands that put something into it. Rejects in words for the user. */
export class ComposerActions {
  private readonly maker: AttachmentMaker;
  private readonly slashes: SlashRunner;
  readonly instructions: InstructionChoices;
  readonly attachMenu: AttachMenu;
  readonly plans: PlanActions;

  constructor(private readonly deps: ComposerActionsDeps) {
    this.maker = new AttachmentMaker(deps);
    this.attachMenu = new AttachMenu({ ...deps, maker: this.maker });
    this.instructions = new InstructionChoices({ ...deps, files: deps.instructions });
    this.plans = new PlanActions(deps);
    this.slashes = new SlashRunner({ ...deps, switchMode: () => this.plans.switchMode(), openHelp: openWalkthrough });
  }

  readonly all: Readonly<Record<ComposerCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    addSelection: async () => this.add(await this.maker.selection(lastTextEditor())),
    addFile: (args) => this.addFiles(args),
    togglePlanMode: () => this.plans.switchMode(),
    openMemoryNotes: async () => pickMemoryNote(await this.deps.noteFolders()),
  };

  attach(source: AttachSource): Promise<Attachment> {
    if (source.kind === 'terminal') return this.attachMenu.terminal();
    if (source.kind === 'changes') return this.attachMenu.changes();
    return this.maker.make(source);
  }

  mentions(query: string): Promise<Mention[]> {
    return this.maker.mentions(query);
  }

  argumentsOf(name: SlashName, query: string): Promise<ArgumentChoice[]> {
    return this.slashes.complete(name, query);
  }

  slash(name: SlashName, argument: string): Promise<string | null> {
    return this.slashes.run(name, argument);
  }

  /** A picture as an address that needs nothing from outside. */
  async image(hash: string, mime: string): Promise<string> {
    const bytes = (imageTypes as readonly string[]).includes(mime) ? await arrivingBlob(await this.deps.store(), hash) : undefined;
    if (!bytes) throw new Error(t('This picture is missing in the history.'));
    return `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`;
  }

  /** The file itself where it still is; else what was attached of it. */
  async open({ path, kind, lines, name, hash, mime }: Attachment): Promise<void> {
    if (path !== undefined && kind !== 'folder' && (await this.openFile(path, lines))) return;
    const bytes = await arrivingBlob(await this.deps.store(), hash);
    if (!bytes) throw new Error(t('What was attached as “{0}” is missing in the history.', name));
    if (kind === 'image') {
      // The viewer takes files only, and knows a picture by the end of its name.
      const file = Uri.file(join(tmpdir(), `threadkeeper-${hash.slice(0, 16)}.${mime.slice(mime.indexOf('/') + 1)}`));
      await workspace.fs.writeFile(file, bytes);
      await commands.executeCommand('vscode.open', file);
    } else await window.showTextDocument(await workspace.openTextDocument({ content: new TextDecoder().decode(bytes) }));
  }

  private async openFile(path: string, lines: Attachment['lines']): Promise<boolean> {
    const file = await fileOf(path);
    if (!file) return false;
    await commands.executeCommand(
      'vscode.open',
      file,
      lines ? { selection: { start: { line: lines[0] - 1, character: 0 }, end: { line: lines[1] - 1, character: 0 } } } : {},
    );
    return true;
  }

  /** From the Explorer (all that is selected there), a tab or an editor; from the palette: the file on show. */
  private async addFiles([clicked, selected]: readonly unknown[]): Promise<void> {
    const all = Array.isArray(selected) && selected.length > 0 ? selected : [clicked];
    const uris = all.filter((one) => one instanceof Uri);
    const active = lastTextEditor()?.document.uri;
    const chosen = uris.length > 0 ? uris : active ? [active] : [];
    if (chosen.length === 0) throw new Error(t('Open a file first, or choose one in the Explorer.'));
    for (const uri of chosen) await this.add(await this.maker.resource(uri));
  }

  private async add(attachment: Attachment): Promise<void> {
    await this.deps.reveal();
    await this.deps.controller.active.attachToDraft(attachment);
    this.deps.focusComposer();
  }
}
