import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Server, Socket } from 'node:net';
import { rmSync } from 'node:fs';
import * as z from 'zod/mini';
import { errorText } from '../../../core/errors';
import type { StoreStatus } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storage';
import { sendAnswer } from '../client/answerParts';
import type { PeerAddress } from './peerAddress';
import {
  FrameReader,
  mostFrameBytes,
  mostHelloBytes,
  toFrame,
  packBytes,
  unpackBytes,
  isProof,
  newChallenge,
  ProofAndChallenge,
  proofOf,
} from './peerFrames';
import type { StoreCall } from '../client/storeCalls';
import { toWire, type Answer } from '../client/storeProtocol';
import { ProcessIdentity } from './processIdentity';
import type { ListedWindow } from './windowList';
import type { Holdings, StoreService, StoreWindow } from '../owner/storeService';

const Join = z.object({
  type: z.literal('join'),
  label: z.string(),
  /** Absent: it is one of an older program. */
  window: z.optional(z.object({ id: z.string(), process: ProcessIdentity })),
  /** False: it only reads, and is not told of changes. Absent: it is told. */
  hears: z.optional(z.boolean()),
  holdings: z.object({ claims: z.array(z.object({ session: z.string(), claim: z.string() })), queued: z.array(z.string()) }),
});
const Call = z.object({
  type: z.literal('call'),
  id: z.number(),
  method: z.string(),
  args: z.array(z.unknown()),
  bytes: z.optional(z.array(z.array(z.union([z.string(), z.number()])))),
});

const mostPeers = 64;
/** How long a stranger may take to introduce itself. */
const helloMs = 5_000;
/** What may wait for a peer that does not read; then it is cut off, and comes back when it is able to. */
const mostWaitingBytes = 128 * 1024 * 1024;
/** How long a peer may take to read a part of an answer. */
const stallMs = 30_000;

export interface Served {
  readonly isCall: (name: string) => name is StoreCall;
  readonly service: Pick<StoreService, 'leave'> & {
    /** `listed`: null for one that holds nothing. */
    join(window: StoreWindow, holdings: Holdings, listed: ListedWindow | null): void;
    call(window: StoreWindow, method: StoreCall, args: readonly unknown[]): unknown;
  };
  readonly status: () => StoreStatus;
}

/**
 * Where other windows reach the owner of a store. Listens from the moment the store is owned; peers wait until it is open. A peer
 * that says anything unexpected is cut off; the others and the owner do not notice.
 */
export class PeerServer {
  private readonly peers = new Set<Socket>();
  private readonly joined = new Set<Peer>();
  private readonly opened: Promise<Served>;
  private open!: (served: Served) => void;

  private constructor(
    private readonly server: Server,
    private readonly address: PeerAddress,
    private readonly log: (event: string, data: Readonly<Record<string, unknown>>) => void,
  ) {
    this.opened = new Promise((resolve) => (this.open = resolve));
    server.maxConnections = mostPeers;
    server.on('connection', (socket) => void this.attend(socket));
    server.on('error', (error) => log('store_sharing_failed', { error: error.message }));
    // The owner lives as long as its window, not as long as there are others.
    server.unref();
  }

  /** Rejects with the system's error when nothing can listen there. */
  static async listen(address: PeerAddress, log: (event: string, data: Readonly<Record<string, unknown>>) => void): Promise<PeerServer> {
    const server = createServer();
    server.listen(address.path);
    await once(server, 'listening');
    return new PeerServer(server, address, log);
  }

  serve(served: Served): void {
    this.open(served);
  }

  /** Tells every window; one of an older program passes it over. */
  tell(status: StoreStatus): void {
    for (const peer of this.joined) void peer.send({ type: 'status', status });
  }

  /** Ends every connection: peers then look for another owner. */
  close(): void {
    this.server.close();
    for (const socket of this.peers) socket.destroy();
    if (process.platform !== 'win32') rmSync(this.address.path, { force: true });
  }

  private async attend(socket: Socket): Promise<void> {
    this.peers.add(socket);
    socket.unref();
    const gone = new AbortController();
    socket.on('close', () => {
      this.peers.delete(socket);
      gone.abort();
    });
    socket.on('error', () => socket.destroy());
    try {
      const messages = incoming(socket);
      await this.authenticate(socket, messages);
      const { label, window = null, hears = true, holdings } = Join.parse((await messages.next()).value);
      const { service, status, isCall } = await this.opened;
      if (gone.signal.aborted) return;
      const peer = new Peer(socket, { label, hears, gone: gone.signal });
      service.join(peer, holdings, hears ? window : null);
      gone.signal.addEventListener('abort', () => {
        service.leave(peer);
        this.joined.delete(peer);
      });
      await peer.send({ type: 'welcome', status: status() });
      if (!gone.signal.aborted) this.joined.add(peer);
      for await (const message of messages) {
        const { id, method, args, bytes } = Call.parse(message);
        if (!isCall(method)) throw new Error('A peer asks for an operation that there is not');
        void peer.answer(id, () => service.call(peer, method, unpackBytes(args, bytes) as readonly unknown[]));
      }
    } catch (error) {
      if (!gone.signal.aborted) this.log('store_peer_cut_off', { error: errorText(error).slice(0, 300) });
    } finally {
      socket.destroy();
    }
  }

  private async authenticate(socket: Socket, messages: Incoming): Promise<void> {
    const { secret } = this.address;
    const timer = setTimeout(() => socket.destroy(), helloMs);
    timer.unref();
    const challenge = newChallenge();
    socket.write(toFrame({ challenge }));
    const hello = ProofAndChallenge.parse((await messages.next()).value);
    const challenges = { owner: challenge, peer: hello.challenge };
    if (!isProof(hello.proof, proofOf(secret, 'peer', challenges))) throw new Error('A peer does not know the secret of the store');
    socket.write(toFrame({ proof: proofOf(secret, 'owner', challenges) }));
    messages.trust();
    clearTimeout(timer);
  }
}

class Peer implements StoreWindow {
  private draining: Promise<void> | null = null;

  constructor(
    private readonly socket: Socket,
    private readonly joined: { readonly label: string; readonly hears: boolean; readonly gone: AbortSignal },
  ) {}

  get label(): string {
    return this.joined.label;
  }

  /** An answer that grows is a change several times a second: twenty servers that were told of each made turns three times as long. */
  notify(change: StoreChange): void {
    if (!this.joined.hears) return;
    if (this.socket.writableLength > mostWaitingBytes) this.socket.destroy();
    else this.socket.write(toFrame({ type: 'change', change }));
  }

  async answer(id: number, perform: () => unknown): Promise<void> {
    const send = async (answer: Answer) => {
      await this.send(answer.type === 'done' ? { ...answer, ...packBytes(answer.value) } : answer);
      // The owner's own window is waiting as well.
      if (answer.type === 'part') await setImmediate();
    };
    try {
      await sendAnswer(id, await perform(), send);
    } catch (error) {
      await send({ type: 'failed', id, error: toWire(error) }).catch(() => this.socket.destroy());
    }
  }

  async send(message: unknown): Promise<void> {
    if (this.joined.gone.aborted || this.socket.write(toFrame(message))) return;
    await (this.draining ??= this.drained());
  }

  private async drained(): Promise<void> {
    const signal = AbortSignal.any([this.joined.gone, AbortSignal.timeout(stallMs)]);
    await once(this.socket, 'drain', { signal }).catch(() => this.socket.destroy());
    this.draining = null;
  }
}

interface Incoming extends AsyncGenerator<unknown, undefined> {
  trust(): void;
}

/** The messages of a peer, as they arrive; ends with the connection. */
function incoming(socket: Socket): Incoming {
  const reader = new FrameReader(mostHelloBytes);
  const messages = (async function* () {
    for await (const chunk of socket) yield* reader.push(chunk as Buffer);
    return undefined;
  })();
  return Object.assign(messages, { trust: () => void (reader.limit = mostFrameBytes) });
}
