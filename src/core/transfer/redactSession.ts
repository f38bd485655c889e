import type { EntryContent } from '../session/entry';
import { redactText, redactValue } from '../redaction/redactText';
import type { ExportedEntry, ExportedSession } from './exportDocument';

/** Its texts go through the rules of redactText.ts. Attachments cannot be read for secrets: they stay behind. */
export function redactEntry(entry: ExportedEntry): ExportedEntry {
  return { ...entry, content: redactContent(entry.content) };
}

export function redactRecord(session: ExportedSession['session']): ExportedSession['session'] {
  const { title, cwd, metadata, policy } = session;
  return {
    ...session,
    title: redactText(title),
    cwd: cwd && redactText(cwd),
    metadata: redactValue(metadata),
    policy: redactValue(policy),
  };
}

export function redactContent(content: EntryContent): EntryContent {
  const redacted = redactValue(content);
  if (redacted.type === 'thinking') {
    // A signature proves a text that is not there any more, and what is sealed cannot be read for secrets.
    const { signature: _signature, redactedData: _sealed, ...rest } = redacted;
    return rest;
  }
  if (redacted.type === 'message') {
    const { attachments: _attachments, ...rest } = redacted;
    return rest;
  }
  return redacted;
}
