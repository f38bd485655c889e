import { resolve } from 'node:path';
import { isPolicyKnob, policyKnobs } from '../../../core/context/policy/policyKnobs';
import { presetNames, resolveSessionPolicy, SessionPolicy } from '../../../core/context/policy/resolvePolicy';
import { StoreError } from '../../../core/errors';
import type { SessionStore } from '../../../core/ports';
import { isSessionKey, metadataValue, type Session, type SessionPatch } from '../../../core/session/session';
import { systemClock } from '../../runtime/systemClock';
import { UuidV7 } from '../../runtime/ids';
import { pairsOf, UsageError, type Flags, type FlagSpec } from '../flags';
import { sessionNamed } from '../storeFlags';

/** Which session a conversation goes on in, and what it is given. */
export const sessionFlags: readonly FlagSpec[] = [
  { name: 'session', value: 'ID', help: 'go on with a session (YYYYMMDD_NNN, its uuid or its key); without it a new one begins' },
  { name: 'key', value: 'CHANNEL:CHAT', help: 'go on with the session that has this key, which is made when there is none' },
  { name: 'meta', value: 'NAME=VALUE', repeats: true, help: "write this into the session's metadata; an empty value takes it away" },
  { name: 'cost-limit', value: 'USD', help: 'the session is not to cost more; 0 takes its limit away' },
  {
    name: 'policy',
    value: 'POLICY',
    choices: presetNames,
    help: "how the context of the session is managed from now on; default: the session's own policy, else balanced",
  },
  {
    name: 'set',
    value: 'KNOB=VALUE',
    repeats: true,
    help: 'change one value of the policy of this session, for example compaction.triggerPercent=60',
  },
];

/** What the flags say of a session. Throws `UsageError`, so that nothing is made for a command line that cannot be run. */
export interface SessionWishes {
  readonly named: string | undefined;
  readonly key: string | undefined;
  readonly cwd: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly costLimit: number | null | undefined;
  readonly preset: string | undefined;
  readonly overrides: Readonly<Record<string, unknown>>;
}

export function parseSessionFlags(flags: Flags): SessionWishes {
  const { session: named, key } = flags;
  if (named !== undefined && key !== undefined) throw new UsageError('--session and --key exclude each other.');
  if (key !== undefined && !isSessionKey(key)) throw new UsageError(`--key is CHANNEL:CHAT, for example telegram:123456; "${key}" is not.`);
  return {
    named,
    key,
    cwd: resolve(flags['workspace'] ?? '.'),
    metadata: Object.fromEntries(
      pairsOf(flags, 'meta', 'user_id=user_123').map(([name, value]) => [name, value === '' ? null : metadataValue(value)]),
    ),
    costLimit: costLimitOf(flags['cost-limit']),
    preset: flags['policy'],
    overrides: overridesOf(flags),
  };
}

/** The session that is meant, made when it has to be, with what it is given stored. Rejects with `StoreError`. */
export async function openSession(
  store: SessionStore,
  wishes: SessionWishes,
): Promise<{ readonly session: Session; readonly restored: boolean }> {
  const { named, key, cwd, metadata } = wishes;
  const session = named === undefined ? await getOrCreate(store, key, cwd) : await sessionNamed(store, named);
  if (named !== undefined && session.deletedAt !== null)
    throw new StoreError('invalid', `${session.id} is in the trash. Restore it first, or name its key with --key.`);
  // A key always leads to a session that can be used.
  const restored = session.deletedAt !== null;
  const patch: SessionPatch = {
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(wishes.costLimit === undefined ? {} : { costLimit: wishes.costLimit }),
    ...(wishes.preset === undefined && Object.keys(wishes.overrides).length === 0 ? {} : { policy: policyOf(session.policy, wishes) }),
    ...(restored ? { deletedAt: null } : {}),
  };
  return { session: Object.keys(patch).length === 0 ? session : await store.updateSession(session.uuid, patch), restored };
}

/** Another program's session, which has come here by an import, is found by the key that it has there. */
async function getOrCreate(store: SessionStore, key: string | undefined, cwd: string): Promise<Session> {
  const [imported] =
    key === undefined || (await store.listSessions({ key })).length > 0
      ? []
      : await store.listSessions({ metadata: { sessionKey: key }, limit: 1 });
  return (
    imported ??
    store.createSession({
      uuid: new UuidV7().next(),
      channel: 'cli',
      cwd,
      createdAt: systemClock.now(),
      ...(key === undefined ? {} : { key }),
    })
  );
}

/** A preset that is asked for replaces what the session had; single values are changed in what it has. */
function policyOf(policy: unknown, { preset, overrides }: SessionWishes): SessionPolicy {
  const known = preset === undefined ? SessionPolicy.safeParse(policy ?? {}) : null;
  const own: SessionPolicy = known?.success ? known.data : preset === undefined ? {} : { preset };
  const all = { ...own.overrides, ...overrides };
  return { ...own, ...(Object.keys(all).length === 0 ? {} : { overrides: all }) };
}

function costLimitOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new UsageError(`--cost-limit is a number of dollars, for example 0.50; "${text}" is not.`);
  return Number(text) === 0 ? null : Number(text);
}

function overridesOf(flags: Flags): Readonly<Record<string, unknown>> {
  const overrides = Object.fromEntries(
    pairsOf(flags, 'set', 'compaction.triggerPercent=60').map(([name, value]) => [name, metadataValue(value)]),
  );
  const unknown = Object.keys(overrides).find((name) => !isPolicyKnob(name));
  if (unknown !== undefined) throw new UsageError(`--set knows no "${unknown}". Known: ${Object.keys(policyKnobs).join(', ')}.`);
  const [problem] = resolveSessionPolicy({ preset: flags['policy'] ?? 'balanced', overrides: {} }, { overrides }).problems;
  if (problem)
    throw new UsageError(`--set ${problem.setting.replace('threadkeeper.', '')}: ${problem.message.replace('In this session: ', '')}`);
  return overrides;
}
