/** Longer ones are pages of a proxy, or an attempt to keep us reading. */
export const longestErrorBody = 65_536;

/** An error's response with no more of its body than anybody reads. Others come back as they are. */
export function withShortError(response: Response): Response {
  if (response.ok || !response.body) return response;
  let left = longestErrorBody;
  const head = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
  return new Response(response.body.pipeThrough(head), { status: response.status, statusText: response.statusText, headers: response.headers });
}
