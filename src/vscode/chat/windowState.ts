import type { Memento } from 'vscode';
import { errorText } from '../../core/errors';
import type { Logger } from '../../core/ports';
import { type SessionSort, sessionSorts } from '../../core/session/session';
import type { RetentionMemory } from '../sessions/retentionRule';
import type { StatusView } from '../context/statusText';
import { walkthroughSteps, type WalkthroughStep } from '../manifest';

type Storage = Pick<Memento, 'get' | 'update'>;

/** Drawn as it stands, so that a window in which nobody chats needs nothing that makes one. */
export interface RememberedMeter extends StatusView {
  /** There was a compaction to undo. */
  readonly canUndo: boolean;
}

const keys = {
  lastSession: 'threadkeeper.lastSession',
  lastMeter: 'threadkeeper.lastMeter',
  newSessionDraft: 'threadkeeper.looseSession',
  offlineChosen: 'threadkeeper.offlineChosen',
  placeOffered: 'threadkeeper.placeOffered',
  relinkDeclined: 'threadkeeper.relinkDeclined',
  toldEphemeral: 'threadkeeper.toldEphemeral',
  retentionRun: 'threadkeeper.retentionRun',
  retentionAgreed: 'threadkeeper.retentionAgreed',
  contentsRun: 'threadkeeper.contentsRun',
  cleanUpRun: 'threadkeeper.cleanUpRun',
  cleanUpAgreed: 'threadkeeper.cleanUpAgreed',
  sessionSort: 'threadkeeper.sessionSort',
  transcriptsAgreed: 'threadkeeper.transcriptsAgreed',
  watchedAgreed: 'threadkeeper.watchedAgreed',
  modelNames: 'threadkeeper.modelNames',
  dismissedBanners: 'threadkeeper.dismissedBanners',
  instructionFilesOff: 'threadkeeper.instructionFilesOff',
  chatEditors: 'threadkeeper.chatEditors',
  synced: 'threadkeeper.synced',
  stepsDone: 'threadkeeper.stepsDone',
} as const;

/** Chats in editors that are remembered: one that VS Code has not given back since stays for this long. */
const mostEditors = 50;

/** What is remembered of a chat in an editor. */
interface EditorState {
  /** UUID; null for a session without a message yet. */
  readonly session: string | null;
  readonly newSession?: unknown;
}

/** Banners that stay closed. */
const mostDismissed = 20;

/** The little that is known before any store is opened. Writing never rejects: losing it costs nothing but comfort. */
export class WindowState {
  constructor(
    private readonly workspace: Storage,
    private readonly machine: Storage,
    private readonly log: Logger,
  ) {}

  /** UUID of the session that was open last; null for one without a message yet; undefined when nothing is known. */
  lastSession(): string | null | undefined {
    const value = this.workspace.get<unknown>(keys.lastSession);
    if (value === 'new') return null;
    return typeof value === 'string' ? value : undefined;
  }

  setLastSession(uuid: string | null): Promise<void> {
    return this.save(this.workspace, keys.lastSession, uuid ?? 'new');
  }

  /** What was open here belongs to a history that is no longer this workspace's. */
  async forgetLast(): Promise<void> {
    await this.save(this.workspace, keys.lastSession, undefined);
    await this.save(this.workspace, keys.lastMeter, undefined);
  }

  /** What was written and chosen for a session without a message yet (NewSessionDraft); undefined: nothing. */
  newSessionDraft(): unknown {
    return this.workspace.get<unknown>(keys.newSessionDraft);
  }

  setNewSessionDraft(state: unknown): Promise<void> {
    return this.save(this.workspace, keys.newSessionDraft, state);
  }

  /** The same of a chat in an editor, by an id of that editor. */
  chatEditor(
    id: string,
  ): Pick<WindowState, 'lastSession' | 'setLastSession' | 'newSessionDraft' | 'setNewSessionDraft' | 'dismissedBanners'> {
    const state = () => this.editors().get(id) ?? { session: null };
    const save = (next: EditorState) => {
      const others = [...this.editors()].filter(([one]) => one !== id);
      return this.save(this.workspace, keys.chatEditors, [...others, [id, next]].slice(-mostEditors));
    };
    return {
      lastSession: () => state().session,
      setLastSession: (session) => save({ ...state(), session }),
      newSessionDraft: () => state().newSession,
      setNewSessionDraft: (newSession) => save({ ...state(), newSession }),
      dismissedBanners: this.dismissedBanners,
    };
  }

  forgetChatEditor(id: string): Promise<void> {
    const others = [...this.editors()].filter(([one]) => one !== id);
    return this.save(this.workspace, keys.chatEditors, others.length > 0 ? others : undefined);
  }

  /** UUIDs of the sessions in editors, also in those that VS Code has not given back since the window was reloaded. */
  sessionsInEditors(): string[] {
    return [...this.editors().values()].flatMap(({ session }) => session ?? []);
  }

  private editors(): ReadonlyMap<string, EditorState> {
    const value = this.workspace.get<unknown>(keys.chatEditors);
    return new Map(Array.isArray(value) ? value.filter(isEditor) : []);
  }

  /** Which history this workspace is synchronized as, and over which engine; null: it is not. */
  synced(): { readonly history: string; readonly engine: string } | null {
    const { history, engine } = (this.workspace.get<unknown>(keys.synced) ?? {}) as Record<string, unknown>;
    return typeof history === 'string' && typeof engine === 'string' ? { history, engine } : null;
  }

  setSynced(synced: { readonly history: string; readonly engine: string } | null): Promise<void> {
    return this.save(this.workspace, keys.synced, synced ?? undefined);
  }

  /** The user has switched the instruction files of this workspace off. */
  instructionFilesOff(): boolean {
    return this.workspace.get<unknown>(keys.instructionFilesOff) === true;
  }

  setInstructionFilesOff(isOff: boolean): Promise<void> {
    return this.save(this.workspace, keys.instructionFilesOff, isOff ? true : undefined);
  }

  /** The user does not want this workspace to be linked to another one's history. */
  relinkDeclined(): boolean {
    return this.workspace.get<unknown>(keys.relinkDeclined) === true;
  }

  setRelinkDeclined(): Promise<void> {
    return this.save(this.workspace, keys.relinkDeclined, true);
  }

  /** The user knows that the history in this folder goes with its container. */
  toldEphemeral(folder: string): boolean {
    return this.workspace.get<unknown>(keys.toldEphemeral) === folder;
  }

  setToldEphemeral(folder: string): Promise<void> {
    return this.save(this.workspace, keys.toldEphemeral, folder);
  }

  /** How the Sessions view is sorted; undefined: as it is by itself. */
  sessionSort(): SessionSort | undefined {
    const value = this.workspace.get<unknown>(keys.sessionSort);
    return sessionSorts.find((sort) => sort === value);
  }

  setSessionSort(sort: SessionSort): Promise<void> {
    return this.save(this.workspace, keys.sessionSort, sort);
  }

  /** The rule for sessions in the trash. */
  readonly retention = this.ruleMemory(keys.retentionRun, keys.retentionAgreed);
  /** The rule for sessions that nobody uses. */
  readonly cleanUp = this.ruleMemory(keys.cleanUpRun, keys.cleanUpAgreed);

  /** When contents of files were looked through last. */
  readonly contents = {
    lastRun: () => Number(this.workspace.get<unknown>(keys.contentsRun) ?? 0) || 0,
    setLastRun: (at: number) => this.save(this.workspace, keys.contentsRun, at),
  };

  private ruleMemory(run: string, agreed: string): RetentionMemory {
    return {
      lastRun: () => Number(this.workspace.get<unknown>(run) ?? 0) || 0,
      setLastRun: (at) => this.save(this.workspace, run, at),
      agreed: () => {
        const days = this.workspace.get<unknown>(agreed);
        return typeof days === 'number' ? days : undefined;
      },
      setAgreed: (days) => this.save(this.workspace, agreed, days),
    };
  }

  /** Sessions of other programs, by their keys, that the user has agreed to have shown in this workspace. */
  readonly watched = {
    has: (key: string): boolean => this.agreedWatched().includes(key),
    add: (key: string): Promise<void> =>
      this.save(this.workspace, keys.watchedAgreed, [...this.agreedWatched().filter((one) => one !== key), key].slice(-mostDismissed)),
  };

  /** Foreign transcripts that the user has agreed to have written to. */
  readonly transcripts = {
    has: (transcript: string): boolean => this.agreedTranscripts().includes(transcript),
    add: (transcript: string): Promise<void> => this.save(this.machine, keys.transcriptsAgreed, [...this.agreedTranscripts(), transcript]),
  };

  /** Closed by the user: what was said, in full. */
  readonly dismissedBanners = {
    has: (banner: string): boolean => this.bannersDismissed().includes(banner),
    add: (banner: string): Promise<void> =>
      this.save(this.workspace, keys.dismissedBanners, [...this.bannersDismissed(), banner].slice(-mostDismissed)),
  };

  private bannersDismissed(): readonly unknown[] {
    const value = this.workspace.get<unknown>(keys.dismissedBanners);
    return Array.isArray(value) ? value : [];
  }

  /** Names of models by their ids; those that were heard of last stand at the end. */
  modelNames(): (readonly [string, string])[] {
    const value = this.machine.get<unknown>(keys.modelNames);
    return Array.isArray(value)
      ? value.filter(
          (one): one is [string, string] => Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === 'string'),
        )
      : [];
  }

  setModelNames(names: readonly (readonly [string, string])[]): Promise<void> {
    return this.save(this.machine, keys.modelNames, names);
  }

  private agreedWatched(): readonly unknown[] {
    const value = this.workspace.get<unknown>(keys.watchedAgreed);
    return Array.isArray(value) ? value : [];
  }

  private agreedTranscripts(): readonly unknown[] {
    const value = this.machine.get<unknown>(keys.transcriptsAgreed);
    return Array.isArray(value) ? value : [];
  }

  /** What the status bar showed last. */
  lastMeter(): RememberedMeter | null {
    const value = this.workspace.get<unknown>(keys.lastMeter);
    return isMeter(value) ? value : null;
  }

  setLastMeter(meter: RememberedMeter | null): Promise<void> {
    return this.save(this.workspace, keys.lastMeter, meter ?? undefined);
  }

  /** Whether the user has been asked on this machine where the chat is to be. */
  placeOffered(): boolean {
    return this.machine.get<unknown>(keys.placeOffered) === true;
  }

  setPlaceOffered(): Promise<void> {
    return this.save(this.machine, keys.placeOffered, true);
  }

  /** The user has chosen to go on without a key. */
  offlineChosen(): boolean {
    return this.machine.get<unknown>(keys.offlineChosen) === true;
  }

  setOfflineChosen(chosen: boolean): Promise<void> {
    return this.save(this.machine, keys.offlineChosen, chosen ? true : undefined);
  }

  /** What the user has done of the walkthrough on this machine. */
  stepsDone(): WalkthroughStep[] {
    const value = this.machine.get<unknown>(keys.stepsDone);
    return Array.isArray(value) ? walkthroughSteps.filter((step) => value.includes(step)) : [];
  }

  setStepsDone(steps: readonly WalkthroughStep[]): Promise<void> {
    return this.save(this.machine, keys.stepsDone, steps);
  }

  private async save(storage: Storage, key: string, value: unknown): Promise<void> {
    try {
      await storage.update(key, value);
    } catch (error) {
      this.log.warn('state_not_saved', { key, detail: errorText(error) });
    }
  }
}

function isEditor(value: unknown): value is readonly [string, EditorState] {
  if (!Array.isArray(value)) return false;
  const [id, state] = value as readonly unknown[];
  const { session } = (typeof state === 'object' && state !== null ? state : {}) as Record<string, unknown>;
  return typeof id === 'string' && (session === null || typeof session === 'string');
}

function isMeter(value: unknown): value is RememberedMeter {
  const { text, tooltip, label, severity, canUndo } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return (
    [text, tooltip, label].every((one) => typeof one === 'string') &&
    ['normal', 'warning', 'error'].includes(String(severity)) &&
    typeof canUndo === 'boolean'
  );
}
