import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { StoreStatus } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storage';
import { AnswerParts } from '../client/answerParts';
import type { PeerAddress } from './peerAddress';
import {
  FrameReader,
  mostFrameBytes,
  packBytes,
  unpackBytes,
  type BytesPath,
  toFrame,
  Challenge,
  isProof,
  newChallenge,
  Proof,
  proofOf,
} from './peerFrames';
import { thisProcess } from './processIdentity';
import { fromWire } from '../client/storeProtocol';
import type { StoreCall } from '../client/storeCalls';
import type { Answer } from '../client/storeProtocol';
import type { Holdings } from '../owner/storeService';

/** The connection to the owner has ended. What was asked may or may not have been carried out: it is asked again elsewhere. */
export class OwnerGoneError extends Error {
  override readonly name = 'OwnerGoneError';
  static is(error: unknown): error is OwnerGoneError {
    return error instanceof OwnerGoneError;
  }
}

/** How long an owner may take to prove itself; opening a store may then take longer. */
const helloMs = 5_000;

/** `bytes`: where bytes stand in the value, in base64. */
type OwnerMessage =
  | (Answer & { readonly bytes?: readonly BytesPath[] })
  | { readonly type: 'welcome' | 'status'; readonly status: StoreStatus }
  | { readonly type: 'change'; readonly change: StoreChange };

interface Pending {
  readonly parts: AnswerParts;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface PeerEvents {
  onChange(change: StoreChange): void;
  /** The owner's has changed. */
  onStatus(): void;
  onGone(): void;
}

/** A window's connection to the one that owns the store. */
export class PeerConnection {
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private gone = false;

  private constructor(
    private readonly socket: Socket,
    private known: StoreStatus,
    private readonly events: PeerEvents,
  ) {}

  /**
   * Resolves when the owner has the store open. Rejects with the system's error, or `OwnerGoneError`, when nobody who knows the
   * secret is there.
   */
  static async open(
    address: PeerAddress,
    me: { readonly label: string; readonly id: string; readonly hears: boolean; readonly holdings: () => Holdings },
    events: PeerEvents,
    signal?: AbortSignal,
  ): Promise<PeerConnection> {
    const socket = connect(address.path);
    // It ends with an error: without one, whoever waits for the connection would wait for good.
    const abort = () => socket.destroy(new OwnerGoneError('The owner of the store does not answer'));
    const timer = setTimeout(abort, helloMs);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await once(socket, 'connect');
      // From here on `close` says it all.
      socket.on('error', abort);
      const messages = incoming(socket);
      const next = async (): Promise<unknown> => {
        const { done, value } = await messages.next();
        if (done) throw new OwnerGoneError('The owner of the store has ended the connection');
        return value;
      };
      const mine = newChallenge();
      const { challenge } = Challenge.parse(await next());
      const challenges = { owner: challenge, peer: mine };
      socket.write(toFrame({ proof: proofOf(address.secret, 'peer', challenges), challenge: mine }));
      const { proof } = Proof.parse(await next());
      if (!isProof(proof, proofOf(address.secret, 'owner', challenges)))
        throw new OwnerGoneError('Somebody else listens where the owner should be');
      clearTimeout(timer);
      const { label, id, hears } = me;
      socket.write(toFrame({ type: 'join', label, window: { id, process: thisProcess() }, hears, holdings: me.holdings() }));
      const welcome = (await next()) as OwnerMessage;
      if (welcome.type !== 'welcome') throw new OwnerGoneError('The owner of the store does not speak our language');
      const connection = new PeerConnection(socket, welcome.status, events);
      void connection.receiveAll(messages);
      // An idle store does not keep a program alive; a call does until it is answered.
      socket.unref();
      return connection;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** The owner's. */
  get status(): StoreStatus {
    return this.known;
  }

  get isGone(): boolean {
    return this.gone;
  }

  /** Rejects with `OwnerGoneError` when the connection ends before the answer is there. */
  call(method: StoreCall, args: readonly unknown[]): Promise<unknown> {
    if (this.gone) return Promise.reject(goneError());
    const id = this.nextId++;
    // JSON has no undefined; what was left out at the end stays left out.
    const given = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
    const { value, bytes } = packBytes(given);
    const frame = toFrame({ type: 'call', id, method, args: value, ...(bytes && { bytes }) });
    return new Promise((resolve, reject) => {
      this.pending.set(id, { parts: new AnswerParts(), resolve, reject });
      this.socket.ref();
      this.socket.write(frame);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private async receiveAll(messages: AsyncGenerator<unknown>): Promise<void> {
    try {
      for await (const message of messages) this.receive(message as OwnerMessage);
    } catch {
      // Whatever broke it, the connection is over.
    }
    this.gone = true;
    this.socket.destroy();
    const waiting = [...this.pending.values()];
    this.pending.clear();
    for (const pending of waiting) pending.reject(goneError());
    this.events.onGone();
  }

  private receive(message: OwnerMessage): void {
    switch (message.type) {
      case 'part':
        return this.pending.get(message.id)?.parts.add(message);
      case 'done': {
        const pending = this.settle(message.id);
        return pending?.resolve(unpackBytes(pending.parts.finish(message), message.bytes));
      }
      case 'failed':
        return this.settle(message.id)?.reject(fromWire(message.error));
      case 'change':
        return this.events.onChange(message.change);
      case 'status':
        this.known = message.status;
        return this.events.onStatus();
      case 'welcome':
        return;
    }
  }

  private settle(id: number): Pending | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    if (this.pending.size === 0) this.socket.unref();
    return pending;
  }
}

function goneError(): OwnerGoneError {
  return new OwnerGoneError('The owner of the store is gone');
}

async function* incoming(socket: Socket): AsyncGenerator<unknown> {
  const reader = new FrameReader(mostFrameBytes);
  for await (const chunk of socket) yield* reader.push(chunk as Buffer);
}
