import { ok, strictEqual } from 'node:assert';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isUserMessage } from '../../../src/core/session/entry';
import { defaultEditRules } from '../../../src/core/tools/guard/guardedKinds';
import { workspaceTools } from '../../../src/core/tools/workspaceTools';
import { FileRecorder } from '../../../src/node/rewind/fileRecorder';
import { FileRestorer, type RestorePlan } from '../../../src/node/rewind/fileRestorer';
import { FileWrites } from '../../../src/node/rewind/fileWrites';
import { KeptFiles } from '../../../src/node/rewind/keptFiles';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { systemClock } from '../../../src/node/runtime/systemClock';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';
import { ConversationRig, silentLog } from '../chat/conversationRig';
import { calls, says } from '../chat/scriptedModel';
import { readTree } from './sampleTree';

/** A conversation whose calls change files of a folder, and what takes them back. */
export class FilesRig {
  restorer!: FileRestorer;
  readonly unsaved = new Set<string>();
  private readonly writes = new FileWrites();
  private made = 0;

  private constructor(
    readonly rig: ConversationRig,
    readonly root: string,
  ) {}

  static async create(): Promise<FilesRig> {
    const rig = await ConversationRig.create();
    const root = join(rig.folder, 'project');
    mkdirSync(root);
    const made = new FilesRig(rig, root);
    await made.open();
    return made;
  }

  /** Opens the session, as a window that starts. */
  async open(): Promise<void> {
    const { rig, root, unsaved } = this;
    const workspace = new DiskWorkspace([root], new CommandRunner());
    // The store is another one when the session is opened again.
    const kept = new KeptFiles({ putBlob: (...blob) => rig.store.putBlob(...blob), blob: (hash) => rig.store.blob(hash) });
    const recorder = new FileRecorder({ kept, workspace, storage: join(rig.folder, 'git'), log: silentLog, writes: this.writes });
    rig.recorder = recorder;
    rig.moreTools = workspaceTools(recorder.workspace, systemClock, () => defaultEditRules);
    await rig.reopen();
    this.restorer = new FileRestorer({
      store: rig.store,
      folders: () => workspace.folders,
      storage: join(rig.folder, 'rewind'),
      isUnsaved: (path) => unsaved.has(path),
      writes: this.writes,
      ids: new UuidV7(),
      now: Date.now,
      log: silentLog,
    });
  }

  put(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  files(): Record<string, string> {
    return Object.fromEntries(Object.entries(readTree(this.root)).map(([path, said]) => [path, said.replace('file ', '')]));
  }

  /** A turn in which the model creates a file, or replaces all of it; returns the user's message. */
  async turn(said: string, path: string, content: string): Promise<string> {
    return this.turnOf(said, { [path]: content });
  }

  /** The same for several files, one call after the other. */
  async turnOf(said: string, files: Readonly<Record<string, string>>): Promise<string> {
    const { rig } = this;
    for (const [path, content] of Object.entries(files))
      rig.model.scripts.push(calls('create_file', { path, content, overwrite: true }, `c${++this.made}`));
    rig.model.scripts.push(says('done'));
    ok((await rig.conversation.send(said)).begun);
    return rig.conversation.entries.findLast(isUserMessage)!.uuid;
  }

  /** `to`: the conversation goes there with the files. */
  async apply(plan: RestorePlan, to?: string | null): Promise<void> {
    await this.restorer.apply(plan, to === undefined ? {} : { to });
  }

  async restoreBoth(message: string): Promise<void> {
    const { branching } = this.rig.conversation;
    const to = await branching.before(message);
    await this.apply(await this.restorer.planBefore(this.rig.session, message), to);
    strictEqual(await branching.goTo(to), null);
  }
}
