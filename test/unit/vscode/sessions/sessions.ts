import type { Session } from '../../../../src/core/session/session';
import { testUuid } from '../../../support/store/storeTemp';

/** A Sunday, in the afternoon. */
export const now = new Date(2026, 10, 22, 15, 30).getTime();

export function aSession(more: Partial<Session> = {}): Session {
  const uuid = testUuid();
  return {
    uuid,
    id: '20261122_001',
    key: `vscode:${uuid}`,
    title: 'Tide tables',
    cwd: null,
    createdAt: now,
    updatedAt: now,
    lastOpenedAt: now,
    pinnedAt: null,
    archivedAt: null,
    deletedAt: null,
    parentSession: null,
    forkEntry: null,
    leaf: null,
    model: null,
    thinkingLevel: null,
    policy: null,
    metadata: {},
    costLimit: null,
    totalTokens: 0,
    messageCount: 0,
    ...more,
  };
}
