import type { SessionStore } from '../../../src/core/ports';
import { allSessions, exportJson } from '../../../src/node/transfer/export/exportJson';

/** An export as one text; all sessions unless some are named. */
export async function exportedText(store: SessionStore, uuids?: readonly string[], redact = false): Promise<string> {
  const sessions = (await allSessions(store)).filter(({ uuid }) => uuids === undefined || uuids.includes(uuid));
  let text = '';
  for await (const piece of exportJson(store, sessions, { redact })) text += piece;
  return text;
}
