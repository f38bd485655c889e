import { t, wholeNumber } from '../../core/l10n';
import { programOf, type ProgramId, type ProgramStatus } from '../../core/transfer/programs';
import type { FoundProgram } from '../../node/transfer/watch/findPrograms';

/** How a program of this machine stands with this history. */
export interface AgentState {
  readonly id: ProgramId;
  readonly name: string;
  readonly icon: string;
  readonly state: 'off' | 'reading' | 'watched' | 'unread';
  /** In a few words. */
  readonly text: string;
  /** What could not be read, and why; a line each. */
  readonly problems: readonly string[];
}

export function agentStates(
  found: readonly FoundProgram[],
  watch: readonly ProgramId[],
  status: readonly ProgramStatus[],
): readonly AgentState[] {
  const ids = [...found.map(({ id }) => id), ...watch.filter((id) => !found.some((one) => one.id === id))];
  return ids.flatMap((id): AgentState[] => {
    const program = programOf(id);
    if (!program) return [];
    const { name, icon } = program;
    const now = status.find((one) => one.id === id);
    const problems = now?.problems.map(({ source, reason }) => `${source}: ${reason}`) ?? [];
    if (!watch.includes(id)) return [{ id, name, icon, state: 'off', text: t('not watched'), problems: [] }];
    if (!now || now.waiting > 0)
      return [{ id, name, icon, state: 'reading', text: t('being read: {0} left', wholeNumber(now?.waiting ?? 0)), problems }];
    if (problems.length > 0) return [{ id, name, icon, state: 'unread', text: t('watched, not all of it could be read'), problems }];
    return [{ id, name, icon, state: 'watched', text: t('watched'), problems }];
  });
}

/** What a search has not looked at; null: it has looked at all. */
export function unsearchedText(states: readonly AgentState[]): string | null {
  const [off, reading, unread] = (['off', 'reading', 'unread'] as const).map((state) =>
    states
      .filter((one) => one.state === state)
      .map(({ name }) => name)
      .join(', '),
  ) as [string, string, string];
  const parts = [
    ...(off === '' ? [] : [t('{0}: not watched', off)]),
    ...(reading === '' ? [] : [t('{0}: still being read', reading)]),
    ...(unread === '' ? [] : [t('{0}: not all of it could be read', unread)]),
  ];
  return parts.length === 0 ? null : parts.join(' · ');
}

/** `1.4 MB` */
export function sizeText(bytes: number): string {
  if (bytes < 1024 * 1024) return `${wholeNumber(Math.max(1, Math.round(bytes / 1024)))} KB`;
  const megabytes = bytes / 1024 / 1024;
  return megabytes < 1024
    ? `${megabytes < 10 ? megabytes.toFixed(1) : wholeNumber(Math.round(megabytes))} MB`
    : `${(megabytes / 1024).toFixed(1)} GB`;
}
