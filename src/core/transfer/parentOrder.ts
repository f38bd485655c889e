import { english } from '../l10n';

interface Node {
  readonly uuid: string;
  readonly parent: string | null;
}

/**
 * Parents before what follows them, otherwise in the order given. A parent that is nowhere, and one entry of every circle, is
 * replaced by the entry before it in the list, so that the conversation stays one; an entry whose uuid came before is left out.
 */
export async function* inParentOrder<T extends Node>(
  entries: readonly T[],
  isElsewhere: (parent: string) => Promise<boolean>,
  repaired: (kind: string) => void,
): AsyncGenerator<T, void, void> {
  const byUuid = new Map<string, T>();
  for (const entry of entries) {
    if (byUuid.has(entry.uuid)) repaired(english('duplicate id'));
    else byUuid.set(entry.uuid, entry);
  }
  const placed = new Set<string>();
  let last: string | null = null;
  for (const start of byUuid.values()) {
    const chain: T[] = [];
    const inChain = new Set<string>();
    let entry: T | undefined = start;
    // Up to something that has been placed, or that is a root.
    while (entry && !placed.has(entry.uuid) && !inChain.has(entry.uuid)) {
      chain.push(entry);
      inChain.add(entry.uuid);
      entry = entry.parent === null ? undefined : byUuid.get(entry.parent);
    }
    for (const one of chain.reverse()) {
      const { parent } = one;
      const isThere = parent === null || placed.has(parent) || (!byUuid.has(parent) && (await isElsewhere(parent)));
      if (!isThere) repaired(parent !== null && byUuid.has(parent) ? english('circle of parents') : english('missing parent'));
      yield isThere ? one : { ...one, parent: last };
      placed.add(one.uuid);
      last = one.uuid;
    }
  }
}
