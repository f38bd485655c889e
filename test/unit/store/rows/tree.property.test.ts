import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NewEntry } from '../../../../src/core/session/entry';
import type { SessionStore } from '../../../../src/core/ports';
import { openTestStore, tempFolder, testUuid, userMessage } from '../../../support/store/storeTemp';

/** What a store has to remember: every entry, and where each session stands. */
class Model {
  readonly entries: NewEntry[] = [];
  readonly leaves = new Map<string, string | null>();

  branch(leaf: string | null): string[] {
    const path: string[] = [];
    for (let at = leaf; at !== null; ) {
      path.unshift(at);
      at = this.entries.find((entry) => entry.uuid === at)?.parent ?? null;
    }
    return path;
  }
}

type Step =
  | { readonly do: 'append'; readonly session: number; readonly parent: number; readonly texts: readonly string[] }
  | { readonly do: 'side'; readonly session: number; readonly parent: number }
  | { readonly do: 'again' | 'moveLeaf'; readonly session: number; readonly pick: number }
  | { readonly do: 'reopen' };

const nat = fc.nat(1000);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 15,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      session: nat,
      parent: nat,
      texts: fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('side' as const), session: nat, parent: nat }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('again' as const, 'moveLeaf' as const), session: nat, pick: nat }) },
  { weight: 1, arbitrary: fc.constant({ do: 'reopen' as const }) },
);

describe('store: any sequence of appends, branches and reopenings', () => {
  it('keeps every entry as it was appended, and every leaf where it was put', async function () {
    this.timeout(30_000);
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), holds), { numRuns: 15 });
  });
});

async function holds(steps: readonly Step[]): Promise<void> {
  const temp = tempFolder();
  let store = await openTestStore(temp.path);
  try {
    const model = new Model();
    for (let i = 0; i < 2; i++) {
      const { uuid } = await store.createSession({ uuid: testUuid(), channel: 'cli', createdAt: i });
      model.leaves.set(uuid, null);
    }
    for (const next of steps) {
      if (next.do === 'reopen') {
        await store.close();
        store = await openTestStore(temp.path);
      } else {
        await take(store, model, next);
      }
    }
    await compare(store, model);
  } finally {
    await store.close();
    temp.remove();
  }
}

async function take(store: SessionStore, model: Model, next: Exclude<Step, { do: 'reopen' }>): Promise<void> {
  const sessions = [...model.leaves.keys()];
  const session = sessions[next.session % sessions.length]!;
  const main = model.entries.filter((entry) => entry.content.type === 'message');
  const parent = (n: number) => (n % 7 === 0 ? null : (main[n % main.length]?.uuid ?? null));
  switch (next.do) {
    case 'append': {
      const added: NewEntry[] = [];
      for (const text of next.texts) added.push(userMessage(session, added.at(-1)?.uuid ?? parent(next.parent), text));
      await store.append(session, { entries: added });
      model.entries.push(...added);
      model.leaves.set(session, added.at(-1)!.uuid);
      return;
    }
    case 'side': {
      const at = parent(next.parent);
      if (at === null) return;
      const label = userMessage(session, at, '', { content: { type: 'label', target: at, label: 'l' } });
      await store.append(session, { entries: [label] });
      model.entries.push(label);
      return;
    }
    case 'again': {
      const entry = model.entries[next.pick % model.entries.length];
      if (entry) await store.append(entry.session, { entries: [entry] });
      return;
    }
    case 'moveLeaf': {
      const leaf = parent(next.pick);
      await store.moveLeaf(session, leaf);
      model.leaves.set(session, leaf);
      return;
    }
  }
}

async function compare(store: SessionStore, model: Model): Promise<void> {
  const stored = await store.entries(model.entries.map((entry) => entry.uuid));
  assert.deepEqual(
    stored.map(({ seq: _, ...entry }) => entry),
    model.entries,
  );
  assert.deepEqual(
    stored.map((entry) => entry.seq),
    [...stored.keys()].map((i) => i + 1),
  );
  for (const [session, leaf] of model.leaves) {
    const expected = model.branch(leaf);
    const live = await store.liveBranch(session);
    assert.deepEqual(
      live.entries.map((entry) => entry.uuid),
      expected,
    );
    assert.equal(
      live.session.messageCount,
      model.entries.filter((entry) => entry.session === session && entry.content.type === 'message').length,
    );

    const paged: string[] = [];
    for (let before: string | undefined; ; before = paged[0]) {
      const page = await store.page(session, { limit: 2, ...(before === undefined ? {} : { before }) });
      paged.unshift(...page.entries.map((entry) => entry.uuid));
      if (!page.hasMore) break;
    }
    const sides = (uuid: string) =>
      model.entries.filter((entry) => entry.parent === uuid && entry.content.type === 'label').map((entry) => entry.uuid);
    assert.deepEqual(
      paged,
      expected.flatMap((uuid) => [uuid, ...sides(uuid)]),
    );
  }
}
