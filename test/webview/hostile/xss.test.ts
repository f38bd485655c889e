import { deepStrictEqual, strictEqual } from 'node:assert';
import { assistant, compaction, liveText, noon, running, snapshot, tool, user } from '../support/fixtures';
import { useViews } from '../support/openView';
import { hostileFormulas, hostileTexts } from './hostileTexts';

describe('hostile text', function () {
  this.timeout(60_000);
  const open = useViews();

  it('runs, loads and covers nothing, whether it comes at once or as a stream', async () => {
    const texts = [...hostileTexts, ...hostileFormulas];
    const view = await open({ snapshot: snapshot({ rows: texts.map((text, i) => assistant(`a${i}`, text)), turn: running('streaming') }) });
    await view.until('formulas are drawn', async () => (await view.find('math').count()) > 0);
    const requested: string[] = [];
    view.page.on('request', (request) => requested.push(request.url()));
    for (const [i, text] of texts.entries()) {
      const half = Math.ceil(text.length / 2);
      await view.delta(liveText(`l${i}`, text.slice(0, half)), liveText(`l${i}`, text.slice(half)));
    }
    for (const link of await view.find('tk-markdown a').all()) await link.click();
    for (const element of await view.find('tk-markdown kbd, tk-markdown b').all()) await element.click();
    strictEqual(await view.page.evaluate(() => (window as { owned?: number }).owned), undefined);
    deepStrictEqual(requested, []);
    const opened = (await view.requests('open_link')).map((r) => (r.method === 'open_link' ? new URL(r.href).protocol : ''));
    deepStrictEqual([...new Set(opened)].sort(), ['http:', 'https:', 'mailto:']);
    deepStrictEqual(
      await view.page.evaluate(() => {
        const inside = [...document.querySelectorAll('tk-markdown *')];
        const odd = inside.filter(
          (e) => e.attributes.length > 0 && [...e.attributes].some((a) => /^on|^style$|^src|^href$|^id$|^name$/.test(a.name)),
        );
        const tags = inside.filter((e) =>
          /SCRIPT|STYLE|IFRAME|OBJECT|EMBED|LINK|META|BASE|FORM|INPUT|IMG|VIDEO|TEMPLATE|-/.test(e.tagName),
        );
        return [...odd, ...tags].map((e) => e.outerHTML);
      }),
      [],
    );
  });

  it('is text wherever no Markdown is expected', async () => {
    const bad = '<img src=x onerror="window.owned=1"><b>bold</b>';
    const view = await open({
      snapshot: snapshot({
        session: { uuid: 's1', id: bad, title: bad },
        sessions: [{ uuid: 's2', id: 'x', title: bad, updatedAt: noon }],
        rows: [
          user('u1', bad),
          tool('c1', { name: bad, input: JSON.stringify({ a: bad }), output: bad }),
          { kind: 'nudge', id: 'n1', at: noon, percent: 50, usedTokens: 1, text: bad, outcome: 'acted', writes: [] },
          { kind: 'info', id: 'i1', at: noon, text: bad },
          compaction('x1', { note: bad, summary: bad, model: bad }),
          { kind: 'error', id: 'e1', at: noon, reason: bad, text: bad },
        ],
        queue: [{ id: 'q1', text: bad }],
        banner: { kind: 'untrusted', text: bad },
        connection: { provider: 'anthropic', modelName: bad, key: 'stored', offlineChosen: false },
        draft: bad,
      }),
      state: { session: 's1', anchor: null, expanded: ['c1', 'n1', 'x1'] },
    });
    await view.button('Sessions').click();
    await view.find('.session-item').waitFor();
    strictEqual(await view.page.evaluate(() => (window as { owned?: number }).owned), undefined);
    strictEqual(await view.find('img').count(), 0);
    // Markdown may make bold what was written as bold: the summary is the only Markdown here.
    strictEqual(await view.find('b').count(), await view.find('.summary b').count());
  });
});
