import type { Disposable } from './disposable';

/** Subscribes a listener; dispose the result to stop. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** Where nobody has said what becomes of it, a listener's exception ends what fires. */
let listenerFailed = (error: unknown): void => {
  throw error;
};

/** Says, for the whole process, what becomes of an exception of a listener: the others hear the event, and whoever fires goes on. */
export function setListenerFailed(handle: (error: unknown) => void): void {
  listenerFailed = handle;
}

/** The firing side of an event. Listeners run in the order they subscribed; one that unsubscribes during a fire is skipped. */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<(value: T) => void>();

  readonly event: Event<T> = (listener) => {
    const own = (value: T) => listener(value);
    this.listeners.add(own);
    return { dispose: () => this.listeners.delete(own) };
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) {
      if (!this.listeners.has(listener)) continue;
      try {
        listener(value);
      } catch (error) {
        listenerFailed(error);
      }
    }
  }

  dispose(): void {
    this.listeners.clear();
  }
}
