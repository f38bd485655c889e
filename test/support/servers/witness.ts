import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that lets everybody in, and remembers the path of every request. */
export interface Witness {
  readonly url: string;
  readonly requests: string[];
  stop(): Promise<void>;
}

export async function startWitness(): Promise<Witness> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path !== '/favicon.ico') requests.push(path);
    response
      .writeHead(200, { 'content-type': types[path] ?? 'text/html', 'access-control-allow-origin': '*' })
      .end(path === '/script.js' ? 'globalThis.ran = true' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, stop };
}

const types: Readonly<Record<string, string>> = {
  '/script.js': 'text/javascript',
  '/style.css': 'text/css',
  '/picture.png': 'image/png',
  '/font.woff2': 'font/woff2',
};
