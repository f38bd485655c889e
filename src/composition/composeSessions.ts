import type { SessionStore } from '../core/ports';
import type { Agents } from '../vscode/agents/agents';
import { otherHistories, type OtherHistories } from '../vscode/sessions/searchOthers';
import { SessionDocuments } from '../vscode/sessions/sessionDocuments';
import { SessionsTree } from '../vscode/sessions/tree/sessionsTree';
import { askForCleanUp, askForRetention } from '../vscode/sessions/retentionPreview';
import { cleanUpRule, RetentionRule, trashRule, trimFileContents } from '../vscode/sessions/retentionRule';
import type { Base } from './base';
import type { ChatParts } from './composeChat';

export interface SessionParts {
  readonly tree: SessionsTree;
  readonly documents: SessionDocuments;
  readonly otherHistories: OtherHistories;
  /** Carries out what the settings say of old sessions. */
  readonly runRetention: () => void;
}

/** The Sessions view, and what becomes of sessions in the trash. */
export function composeSessions(
  { log, memory, contextKeys, sessionsView, owned, configuration, location }: Base,
  { places, store, others }: ChatParts,
  agents: Agents,
  isCurrent: (store: SessionStore) => Promise<boolean>,
): SessionParts {
  const histories = otherHistories(others, log);
  const documents = owned.add(new SessionDocuments(others));
  const tree = owned.add(
    new SessionsTree({
      sessionsView,
      store,
      places,
      others,
      histories,
      agents,
      offersRelink: async () => !memory.relinkDeclined() && (await location.likely()) !== undefined,
      sorting: memory,
      now: Date.now,
      log,
      found: ({ unread, relinkOffered, hasTrash }) => {
        contextKeys.set('hasTrash', hasTrash);
        contextKeys.set('sessionsUnread', unread);
        contextKeys.set('relinkOffered', relinkOffered);
      },
    }),
  );
  const common = { store, done: () => tree.refresh(), now: Date.now, log };
  const emptyTrash = new RetentionRule({
    ...common,
    isCurrent,
    days: () => configuration.current.trashDays,
    memory: memory.retention,
    rule: trashRule(() => places.openSessions),
    ask: askForRetention,
  });
  const cleanUp = new RetentionRule({
    ...common,
    isCurrent,
    days: () => configuration.current.cleanUpDays,
    memory: memory.cleanUp,
    rule: cleanUpRule(() => places.openSessions),
    ask: askForCleanUp,
  });
  const trim = () => trimFileContents({ ...common, limits: () => configuration.current.fileContents, memory: memory.contents });
  const runRetention = () =>
    void emptyTrash
      .run()
      .then(() => cleanUp.run())
      .then(trim);
  return { tree, documents, otherHistories: histories, runRetention };
}
