import { join } from 'node:path';
import * as vscode from 'vscode';
import { workspace } from 'vscode';
import { FileWrites } from '../node/rewind/fileWrites';
import { UuidV7 } from '../node/runtime/ids';
import { ChatPlaces } from '../vscode/chat/places/chatPlaces';
import type { ConversationFactory, ConversationFactoryOptions } from '../vscode/chat/conversationFactory';
import { CompactionPreviews, reviewWith } from '../vscode/context/compactionPreviews';
import { focusChatCommand } from '../vscode/manifest';
import { notifyFull } from '../vscode/context/fullContext';
import { FullQuestions } from '../vscode/context/fullQuestions';
import { nestedInstructionFiles } from '../vscode/composer/nestedInstructions';
import { followTextEditors } from '../vscode/lastTextEditor';
import { askBudget, showSessionDeleted, warnOfEphemeralStorage } from '../vscode/notices';
import { LmModels } from '../vscode/models/lmModels';
import { ModelNames } from '../vscode/models/modelNames';
import { ModelSource } from '../vscode/models/modelSource';
import { StoreAccess } from '../vscode/history/storeAccess';
import { VscodeWorkspace } from '../vscode/tools/vscodeWorkspace';
import { editorTools } from '../vscode/tools/editorTools';
import { EmbeddingStatus } from '../vscode/sessions/embeddingStatus';
import { recallElsewhere } from '../vscode/sessions/searchOthers';
import { OtherSessions } from '../vscode/sessions/tree/otherSessions';
import { type Base, endpointIn, userNotes } from './base';

/** Only a conversation needs this. */
interface LazyRuntime {
  /** Loads it when it is first asked for. */
  get(): Promise<ConversationFactory>;
  /** Ends what has been loaded. */
  close(): Promise<void>;
}

export interface ChatParts {
  readonly places: ChatPlaces;
  readonly runtime: LazyRuntime;
  readonly store: StoreAccess;
  /** Histories of other workspaces, read when somebody asks. */
  readonly others: OtherSessions;
  readonly models: ModelSource;
  readonly fullQuestions: FullQuestions;
  readonly previews: CompactionPreviews;
}

/** The chat itself, whether or not a view shows it. */
export function composeChat(base: Base, focusSideBar: () => void, noteSessions: (count: number) => void): ChatParts {
  const { log, memory, keys, owned, configuration, location } = base;
  const previews = owned.add(new CompactionPreviews());
  const fullQuestions: FullQuestions = new FullQuestions((question) => {
    if (places.of(question.session)?.controller.feed.visible) return;
    void notifyFull(question).then((answer) => answer && fullQuestions.answer(question.session, answer));
  });
  const others = owned.add(
    new OtherSessions({ list: () => location.others(), open: async (folder) => (await runtime.get()).readStore(folder), log }),
  );
  const elsewhere = recallElsewhere(others, log);
  const runtime: LazyRuntime = composeRuntime(base, {
    elsewhere: () => (configuration.current.recallElsewhere && workspace.isTrusted ? elsewhere : null),
    askWhenFull: fullQuestions.ask,
    reviewCompaction: reviewWith(previews),
    session: () => places.active.session?.uuid ?? '',
    hasKey: () => models.hasKey(),
    reach: (...way) => models.reach(...way),
  });
  const openStore = async (options: { readonly repair: boolean }) => {
    const { folder, found, related } = await location.resolve();
    log.info('store_located', { folder, found, related: related.length });
    void warnOfEphemeralStorage(
      folder,
      (one) => memory.toldEphemeral(one),
      (one) => memory.setToldEphemeral(one),
    );
    return (await runtime.get()).openStore(folder, options);
  };
  const store = new StoreAccess(openStore, log, async () =>
    (await import('../node/store/sharing/leaseReservation')).reserveLease((await location.resolve()).folder),
  );
  const models = new ModelSource({
    keys,
    bindings: async () => (await runtime.get()).bindings(await store.get()),
    endpoint: endpointIn(configuration),
    others: () => configuration.current,
    setting: () => configuration.current.model,
    offlineChosen: () => memory.offlineChosen(),
    names: owned.add(new ModelNames(memory)),
    log,
  });
  const places: ChatPlaces = owned.add(
    new ChatPlaces({
      store,
      openConversation: async (...session) => (await runtime.get()).openConversation(...session),
      models,
      memory,
      fullQuestions,
      isTrusted: () => workspace.isTrusted,
      policy: () => configuration.current.policy,
      sideBar: {
        reveal: async (options) => void (await vscode.commands.executeCommand(focusChatCommand, options)),
        focusComposer: focusSideBar,
      },
      inEditors: () => memory.sessionsInEditors(),
      noteSessions,
      sessionDeleted: showSessionDeleted,
      cwd: workspace.workspaceFolders?.[0]?.uri.fsPath ?? null,
      ids: new UuidV7(),
      now: Date.now,
      log,
    }),
  );
  return { places, runtime, store, others, models, fullQuestions, previews };
}

function composeRuntime(
  { context, log, memory, configuration, commands, terminals, owned }: Base,
  asked: Pick<ConversationFactoryOptions, 'askWhenFull' | 'reviewCompaction' | 'session' | 'hasKey' | 'reach' | 'elsewhere'>,
): LazyRuntime {
  let loaded: Promise<ConversationFactory> | undefined;
  const writes = new FileWrites();
  owned.add(followTextEditors());
  context.subscriptions.push(workspace.onDidSaveTextDocument(({ uri }) => writes.note(uri.fsPath, 'the editor')));
  const load = async () => {
    const { ConversationFactory } = await import('../vscode/chat/conversationFactory');
    const factory = new ConversationFactory({
      ...asked,
      distDir: join(context.extensionPath, 'dist'),
      folders: () =>
        (workspace.isTrusted ? (workspace.workspaceFolders ?? []) : []).flatMap(({ uri }) => (uri.scheme === 'file' ? uri.fsPath : [])),
      userNotes: userNotes(context),
      settings: () => configuration.current,
      workspace: new VscodeWorkspace(commands, terminals),
      writes,
      unsavedFiles: () => workspace.textDocuments.flatMap(({ isDirty, uri }) => (isDirty ? [uri.fsPath] : [])),
      otherTools: editorTools,
      isTrusted: () => workspace.isTrusted,
      heedsInstructionFiles: () => !memory.instructionFilesOff(),
      nestedInstructionFiles,
      askBudget,
      hosted: new LmModels({ api: vscode, canSend: (model) => context.languageModelAccessInformation.canSendRequest(model), log }),
      log,
    });
    const status = owned.add(new EmbeddingStatus());
    owned.add(factory.embeddings.onDidChange((progress) => status.show(progress)));
    owned.add(configuration.onDidChange(() => factory.embeddings.wake()));
    return factory;
  };
  return { get: () => (loaded ??= load()), close: async () => (await loaded)?.close() };
}
