import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { chatViewHtml } from '../../../src/protocol/chatViewHtml';
import { projectRoot } from '../../support/paths';
import { isLanguage, tagOf, textsOf, type Language } from './languages';

const scripts = ['main.js', 'main.css', 'math.js', 'panels.js', 'panels.css'];
const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css' };

interface Answer {
  readonly contentType: string;
  readonly body: string;
}

/** What a page of the extension asks for, as VS Code would give it; null: there is none. */
export async function viewFile(address: URL): Promise<Answer | null> {
  const name = address.pathname.slice(1);
  const asked = address.search.slice(1);
  const language = isLanguage(asked) ? asked : 'en';
  if (name === '' || name === 'panel')
    return { contentType: 'text/html', body: pageHtml(address.origin, name === '' ? 'main' : 'panels', language) };
  if (!scripts.includes(name)) return null;
  return { contentType: types[extname(name)]!, body: await readFile(join(projectRoot, 'dist/webview', name), 'utf8') };
}

function pageHtml(origin: string, files: 'main' | 'panels', language: Language): string {
  return chatViewHtml({
    cspSource: origin,
    nonce: 'dGVzdG5vbmNlZGVzdGVzdHM=',
    scriptUri: `${origin}/${files}.js`,
    styleUri: `${origin}/${files}.css`,
    title: 'Threadkeeper',
    translations: { language: tagOf(language), texts: textsOf(language) },
    element: files === 'main' ? 'tk-app' : 'tk-panel',
  });
}

let origin: Promise<string> | null = null;

/**
 * Where this process serves the pages. A server, because Chromium keeps the scripts that it has read from one, and what it has compiled of
 * them: answers that Playwright puts in their place it reads anew for every page.
 */
export function viewOrigin(): Promise<string> {
  return (origin ??= new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      void viewFile(new URL(request.url!, `http://${request.headers.host}`)).then(
        (answer) => {
          // A page of a server is looked at for an icon, which one of VS Code's is not.
          if (request.url === '/favicon.ico') return response.writeHead(204).end();
          if (answer === null) return response.writeHead(404).end();
          // The pages differ, what they load does not.
          const keeps = answer.contentType === 'text/html' ? 'no-store' : 'max-age=3600';
          return response
            .writeHead(200, { 'content-type': `${answer.contentType}; charset=utf-8`, 'cache-control': keeps })
            .end(answer.body);
        },
        () => response.writeHead(500).end(),
      );
    });
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    server.unref();
  }));
}
