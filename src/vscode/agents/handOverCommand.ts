import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { commands, env, QuickPickItemKind, ThemeIcon, Uri, window, workspace, type QuickPickItem } from 'vscode';
import { t } from '../../core/l10n';
import type { IdSource, SessionStore } from '../../core/ports';
import type { Session } from '../../core/session/session';
import type { HandoverProgram } from '../../core/transfer/handover/handoverPrograms';
import { programOf } from '../../core/transfer/programs';
import type { Handover } from '../../node/transfer/handover/handOver';
import type { ActiveChat } from '../chat/activeChat';
import type { CommandName } from '../manifest';
import { ownSession } from '../sessions/tree/sessionNodes';
import { sessionTitle } from '../sessions/sessionText';
import type { ChangeDocuments } from '../tools/changeDocuments';
import { handoverPreview } from './handoverPreview';

export type HandOverCommandName = Extract<CommandName, 'handOver'>;

export interface HandOverCommandDeps {
  readonly store: () => Promise<SessionStore>;
  readonly active: Pick<ActiveChat, 'open' | 'session'>;
  readonly changes: Pick<ChangeDocuments, 'read'>;
  readonly ids: IdSource;
  /** What programs import by themselves lies here. */
  readonly exportFolder: string;
}

interface TargetItem extends QuickPickItem {
  /** Null: a colleague. */
  readonly program: HandoverProgram | null;
}

/** Goes on with a session in another program, or gives it to a colleague. Nothing is written before it was shown and confirmed. */
export class HandOverCommand {
  readonly all: Readonly<Record<HandOverCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    handOver: ([node]) => this.handOver(node),
  };

  constructor(private readonly deps: HandOverCommandDeps) {}

  private async handOver(node: unknown): Promise<void> {
    if (!workspace.isTrusted) throw new Error(t('Sessions are handed over from trusted workspaces only. Trust this workspace first.'));
    const session = ownSession(node) ?? (await this.open());
    if (!session) return void window.showInformationMessage(t('No session is open: it comes into being with its first message.'));
    const picked = await pickTarget(sessionTitle(session));
    if (!picked) return;
    await (picked.program ? this.toProgram(session, picked.program) : this.toColleague(session));
  }

  private async open(): Promise<Session | null> {
    await this.deps.active.open();
    return this.deps.active.session;
  }

  private async toProgram(session: Session, program: HandoverProgram): Promise<void> {
    const { prepareHandover, carryOut, commandLine, terminalInput } = await import('../../node/transfer/handover/handOver');
    const { thisMachine } = await import('../../node/transfer/watch/thisMachine');
    const store = await this.deps.store();
    const now = Date.now();
    const handover = await prepareHandover(session, program, {
      store,
      machine: thisMachine([]),
      now,
      folder: workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir(),
      exportFolder: this.deps.exportFolder,
    });
    const command = commandLine(handover.resume, process.platform);
    if (!(await this.confirmed(handover, command))) return;
    await carryOut(handover, session, store, this.deps.ids, now);
    const [copy, run] = [t('Copy Command'), t('Open in Terminal')];
    const answer = await window.showInformationMessage(
      `Threadkeeper: ${t('Handed over. Go on with: {0}', command.replaceAll('\n', ' ; '))}`,
      copy,
      run,
    );
    const enter = commandLine([['cd', handover.cwd], ...handover.resume], process.platform);
    if (answer === copy) await env.clipboard.writeText(enter);
    if (answer !== run) return;
    const terminal = window.createTerminal({ name: handover.name, cwd: handover.cwd });
    terminal.show();
    const { text, runs } = terminalInput(handover.resume, process.platform);
    terminal.sendText(text, runs);
  }

  private async confirmed(handover: Handover, command: string): Promise<boolean> {
    const editor = await this.deps.changes.read(`${t('Hand over to {0}', handover.name)}.md`, handoverPreview(handover, command));
    const button = t('Hand Over');
    const answer = await window.showInformationMessage(
      t('Hand this session over to {0}?', handover.name),
      {
        modal: true,
        detail: t('The editor shows what {0} is told, and where it is written. None of its files is changed.', handover.name),
      },
      button,
    );
    await editor.close();
    return answer === button;
  }

  private async toColleague(session: Session): Promise<void> {
    const { fewestCharacters, sealed } = await import('../../node/transfer/export/sealedBundle');
    const { writeExport } = await import('../../node/transfer/export/exportSessions');
    const { exportJson } = await import('../../node/transfer/export/exportJson');
    const passphrase = await window.showInputBox({
      title: t('Passphrase'),
      prompt: t('Your colleague needs it to import the file. Send it in another way than the file.'),
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) => (text.length < fewestCharacters ? t('{0} characters at least', fewestCharacters) : null),
    });
    if (passphrase === undefined) return;
    const target = await window.showSaveDialog({
      title: t('Hand Over'),
      saveLabel: t('Hand Over'),
      filters: { Threadkeeper: ['tksealed'] },
      defaultUri: Uri.file(join(homedir(), `${session.id}.tksealed`)),
    });
    if (!target) return;
    await writeExport(sealed(exportJson(await this.deps.store(), [session], { redact: true }), passphrase), target.fsPath);
    const reveal = t('Show File');
    const answer = await window.showInformationMessage(
      `Threadkeeper: ${t('Sealed in {0}. Your colleague opens it with Import Sessions… and the passphrase.', target.fsPath)}`,
      reveal,
    );
    if (answer === reveal && existsSync(target.fsPath)) await commands.executeCommand('revealFileInOS', target);
  }
}

async function pickTarget(title: string): Promise<TargetItem | undefined> {
  const { handoverTargets } = await import('../../node/transfer/handover/handOver');
  const { thisMachine } = await import('../../node/transfer/watch/thisMachine');
  const targets = await handoverTargets(thisMachine([]));
  const itemOf = ({ program, isHere }: (typeof targets)[number]): TargetItem => ({
    label: programOf(program.id)?.name ?? program.id,
    iconPath: new ThemeIcon(programOf(program.id)?.icon ?? 'terminal'),
    description: isHere ? '' : t('not found on this machine'),
    program,
  });
  const colleague: TargetItem = {
    label: t('A Colleague…'),
    iconPath: new ThemeIcon('lock'),
    description: t('an encrypted file without secrets, home folders and attachments'),
    program: null,
  };
  const line = { label: '', kind: QuickPickItemKind.Separator, program: null } as const;
  const here = targets.filter(({ isHere }) => isHere).map(itemOf);
  const absent = targets.filter(({ isHere }) => !isHere).map(itemOf);
  return window.showQuickPick([...here, line, colleague, ...(absent.length > 0 ? [line, ...absent] : [])], {
    title: t('Hand Over {0}', title),
    placeHolder: t('Where does it go on? What is written is shown first'),
  });
}
