import * as z from 'zod/mini';
import { t } from '../../core/l10n';
import { isSessionKey, type Session, type SessionDetails } from '../../core/session/session';

/** A document does not say what can be stored; the message is for the user. */
class DetailsFault extends Error {
  override readonly name = 'DetailsFault';
}

const Details = z.strictObject({
  title: z.string(),
  key: z.string(),
  costLimit: z.nullable(z.number().check(z.gt(0))),
  metadata: z.record(z.string(), z.unknown()),
});

/** What people may say of a session, as JSON to be edited. */
export function detailsText({ title, key, costLimit, metadata }: Session): string {
  return `${JSON.stringify({ title, key, costLimit, metadata }, null, 2)}\n`;
}

/** What was changed in it: whoever changes something else meanwhile is not overruled. Throws `DetailsFault`. */
export function changedDetails(text: string, before: Session): SessionDetails {
  const { title, key, costLimit, metadata } = parsed(text);
  if (key !== before.key && !isSessionKey(key))
    throw new DetailsFault(t('"{0}" is no key of a session: a key is channel:chat, for example telegram:123456', key));
  const { tags } = metadata;
  if (tags !== undefined && tags !== null && !(Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')))
    throw new DetailsFault(t('metadata.tags is a list of texts.'));
  const names = [...new Set([...Object.keys(before.metadata), ...Object.keys(metadata)])].filter(
    (name) => JSON.stringify(before.metadata[name]) !== JSON.stringify(metadata[name]),
  );
  return {
    ...(title.trim() === before.title ? {} : { title: title.trim() }),
    ...(key === before.key ? {} : { key }),
    ...(costLimit === before.costLimit ? {} : { costLimit }),
    ...(names.length === 0 ? {} : { metadata: Object.fromEntries(names.map((name) => [name, metadata[name] ?? null])) }),
  };
}

function parsed(text: string): z.infer<typeof Details> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DetailsFault(t('This is no JSON: {0}', error instanceof Error ? error.message : String(error)));
  }
  const details = Details.safeParse(value);
  if (details.success) return details.data;
  const [issue] = details.error.issues;
  const where = issue?.path.join('.') ?? '';
  if (where === 'costLimit') throw new DetailsFault(t('costLimit is a number of dollars above 0, or null for none.'));
  throw new DetailsFault(
    t(
      'The document has a title, a key, a costLimit (dollars or null) and metadata, and nothing else. Not as expected: {0}',
      where === '' ? t('the document') : where,
    ),
  );
}
