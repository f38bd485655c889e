import { DisposableStore, type Disposable } from '../../core/base/disposable';
import type { Connection, Delta, Elsewhere, ViewSnapshot } from '../../protocol/messages';
import type { PolicyChoice } from '../../core/context/policy/resolvePolicy';
import { bannerFor, sessionPolicyProblem } from './banner';
import type { NewSessionDraft } from './newSessionDraft';
import type { ModelSource } from '../models/modelSource';
import type { SessionTab } from './sessionTab';
import type { StoreAccess } from '../history/storeAccess';

/** Whoever shows the chat. A hidden surface drops deltas and asks for a snapshot when it is shown again. */
export interface ChatSurface {
  readonly visible: boolean;
  /** It has loaded and been sent a snapshot since it was shown: deltas reach it. */
  readonly ready: boolean;
  snapshot(snapshot: ViewSnapshot): void;
  delta(delta: Delta): void;
}

export interface SurfaceSource {
  readonly store: Pick<StoreAccess, 'current' | 'failure'>;
  readonly models: Pick<ModelSource, 'connection'>;
  readonly isTrusted: () => boolean;
  /** What the settings say of how the context is managed. */
  readonly policy: () => PolicyChoice;
  readonly isDismissed: (banner: string) => boolean;
  /** In the place of a chat when there is none. */
  readonly newSession: NewSessionDraft;
  readonly sessions: () => ViewSnapshot['sessions'];
}

/** Keeps the surface up to date, if there is one, with what happens in the chat on show. */
export class ChatViewFeed implements Disposable {
  private chat: SessionTab | null = null;
  private following = new DisposableStore();
  private surface: ChatSurface | null = null;
  private lastConnection = '';
  /** As JSON. A surface without a snapshot shows none. */
  private lastBanner = 'null';
  private lastElsewhere: { readonly session: string | null; readonly elsewhere: Elsewhere } = { session: null, elsewhere: null };
  /** A row to go to, for a surface that is not shown yet. */
  private toReveal: string | null = null;

  constructor(private readonly source: SurfaceSource) {}

  get visible(): boolean {
    return this.surface?.visible ?? false;
  }

  /** The newest surface is the one that counts. */
  attach(surface: ChatSurface): Disposable {
    this.surface = surface;
    return {
      dispose: () => {
        if (this.surface === surface) this.surface = null;
      },
    };
  }

  /** From now on that chat, or none, is on show. */
  follow(chat: SessionTab | null): void {
    this.following.dispose();
    this.following = new DisposableStore();
    this.chat = chat;
    if (!chat) return;
    this.following.add(chat.onDidSend((delta) => this.delta(delta)));
    this.following.add(chat.onDidOutgrowDeltas(() => this.snapshot()));
    this.following.add(
      chat.onDidEmit(({ type }) => {
        if (type === 'context_changed') this.connection();
        if (type === 'session_changed') this.banner();
      }),
    );
  }

  dispose(): void {
    this.following.dispose();
  }

  delta(delta: Delta): void {
    this.surface?.delta(delta);
  }

  focusComposer(): void {
    this.delta({ kind: 'focus_composer' });
  }

  /** Goes to a row, at once or when the surface is ready. */
  reveal(id: string): void {
    this.toReveal = id;
    if (this.surface?.visible && this.surface.ready) this.revealNow();
  }

  /** What answers, if that has changed. */
  connection(): void {
    const connection = this.currentConnection();
    const text = JSON.stringify(connection);
    if (text === this.lastConnection) return;
    this.lastConnection = text;
    this.delta({ kind: 'connection', connection });
  }

  banner(): void {
    const banner = this.currentBanner();
    const text = JSON.stringify(banner);
    if (text === this.lastBanner) return;
    this.lastBanner = text;
    this.delta({ kind: 'banner', banner });
  }

  /** Another device went on with the session on show; null: none, or not that is known. */
  elsewhere(elsewhere: Elsewhere): void {
    const next = { session: this.chat?.session.uuid ?? null, elsewhere };
    if (JSON.stringify(next) === JSON.stringify(this.lastElsewhere)) return;
    this.lastElsewhere = next;
    this.delta({ kind: 'elsewhere', elsewhere });
  }

  /** Everything. */
  snapshot(): void {
    const { chat } = this;
    const { newSession, sessions } = this.source;
    const connection = this.currentConnection();
    this.lastConnection = JSON.stringify(connection);
    const banner = this.currentBanner();
    this.lastBanner = JSON.stringify(banner);
    const { draft } = chat ?? newSession;
    const nothing = {
      session: null,
      rows: [],
      marks: [],
      hasMore: false,
      live: [],
      turn: null,
      queue: [],
      left: null,
      full: null,
      context: null,
    };
    this.surface?.snapshot({
      ...(chat?.presenter.parts() ?? (newSession.planning ? { ...nothing, mode: 'plan' as const } : nothing)),
      sessions: sessions(),
      connection,
      banner,
      draft: draft.text,
      ...(draft.attachments.length > 0 ? { attachments: [...draft.attachments] } : {}),
      ...(chat && this.lastElsewhere.session === chat.session.uuid ? { elsewhere: this.lastElsewhere.elsewhere } : {}),
      ...(chat?.draftRemark === undefined ? {} : { draftRemark: chat.draftRemark }),
    });
    if (this.surface) this.revealNow();
  }

  private revealNow(): void {
    const id = this.toReveal;
    this.toReveal = null;
    if (id !== null) this.delta({ kind: 'reveal', id });
  }

  private currentConnection(): Connection {
    const { chat } = this;
    const { newSession, models } = this.source;
    return chat ? models.connection(chat.conversation.model.info) : newSession.connection;
  }

  private currentBanner(): ViewSnapshot['banner'] {
    const { store, isTrusted, policy, isDismissed } = this.source;
    return bannerFor({
      status: store.current?.status ?? null,
      failure: store.failure,
      trusted: isTrusted(),
      policyProblem: sessionPolicyProblem(policy(), this.chat?.session.policy ?? null),
      isDismissed,
    });
  }
}
