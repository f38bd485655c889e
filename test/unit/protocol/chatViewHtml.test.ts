import { deepStrictEqual, ok } from 'node:assert';
import { chatViewHtml } from '../../../src/protocol/chatViewHtml';

const parts = {
  element: 'tk-app' as const,
  cspSource: 'https://views.example',
  nonce: 'bm9uY2U=',
  scriptUri: 'https://views.example/main.js?a=1&b=2',
  styleUri: 'https://views.example/main.css',
  title: 'Chat "one" <two>',
  translations: { language: 'zh-cn', texts: { 'Say "{0}" & <b>': '说“{0}”\u2028</meta>' } },
};

describe('chat view document', () => {
  it('forbids everything but its own script, style, fonts and images', () => {
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(chatViewHtml(parts))?.[1];
    deepStrictEqual(policy?.split('; '), [
      `default-src 'none'`,
      `script-src 'nonce-bm9uY2U='`,
      'style-src https://views.example',
      'font-src https://views.example',
      'img-src https://views.example data:',
      `form-action 'none'`,
      `base-uri 'none'`,
    ]);
  });

  it('has no inline script, style or handler, and escapes what it is given', () => {
    const html = chatViewHtml(parts);
    ok(!/\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)/.test(html));
    ok(html.includes('main.js?a=1&amp;b=2'));
    ok(html.includes('Chat &quot;one&quot; &lt;two&gt;'));
  });
});
