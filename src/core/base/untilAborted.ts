/** Resolves as `asked` does, or, as soon as the signal is aborted, with what `otherwise` returns; rejects with what it throws. */
export async function untilAborted<T>(asked: Promise<T>, signal: AbortSignal, otherwise: () => T): Promise<T> {
  let stop!: () => void;
  const stopped = new Promise<void>((resolve) => (stop = resolve)).then(otherwise);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([stopped, asked]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
