import { deepStrictEqual, strictEqual } from 'node:assert';
import { assistant, compaction, liveText, noon, running, snapshot, tool, user } from './support/fixtures';
import { useViews } from './support/openView';

/** Each would set `window.owned`, load something, or change how the view looks. */
const corpus = [
  '<script>window.owned = 1</script>',
  '<img src=x onerror="window.owned = 2">',
  '<img src="https://example.org/track.gif">',
  '![x](x" onerror="window.owned=3)',
  '![x](https://example.org/p.png "t\\" onerror=\\"window.owned=3")',
  '[click](javascript:window.owned=4)',
  '[click](JaVaScRiPt:window.owned=4)',
  '[click](java\nscript:window.owned=4)',
  '[click](&#106;avascript:window.owned=4)',
  '[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[click](vbscript:owned)',
  '[click](command:workbench.action.terminal.new)',
  '[click](vscode://file/etc/passwd)',
  '<javascript:window.owned=5>',
  '<a href="javascript:window.owned=5">x</a>',
  '<a href="https://example.org" onclick="window.owned=6">x</a>',
  '<svg onload="window.owned=7"><script>window.owned=7</script></svg>',
  '<svg><a xlink:href="javascript:window.owned=8"><text>x</text></a></svg>',
  '<svg><animate onbegin="window.owned=8" attributeName=x dur=1s></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.owned=9&gt;">',
  '<iframe src="javascript:window.owned=10"></iframe>',
  '<iframe srcdoc="<script>parent.owned=10</script>"></iframe>',
  '<object data="data:text/html,<script>parent.owned=11</script>"></object>',
  '<embed src="javascript:window.owned=11">',
  '<style>* { display: none !important }</style>',
  '<div style="position:fixed;inset:0;background:red;z-index:99">cover</div>',
  '<p style="background:url(https://example.org/x.png)">x</p>',
  '<link rel="stylesheet" href="https://example.org/x.css">',
  '<meta http-equiv="refresh" content="0;url=https://example.org">',
  '<base href="https://example.org/">',
  '<form action="https://example.org"><button formaction="javascript:window.owned=12">x</button></form>',
  '<input autofocus onfocus="window.owned=13">',
  '<details open ontoggle="window.owned=14"><summary>x</summary></details>',
  '<video><source onerror="window.owned=15"></video>',
  '<body onload="window.owned=16">',
  '<template><img src=x onerror="window.owned=17"></template>',
  '<tk-app></tk-app><tk-composer></tk-composer><vscode-button>Set API key</vscode-button>',
  '<slot name="x"></slot><portal src="https://example.org"></portal>',
  '<a data-href="javascript:window.owned=18">x</a>',
  '<b id="app" class="jump" name="fake">clobber</b>',
  '<kbd onclick="window.owned=19">k</kbd>',
  '```html\n<script>window.owned=20</script>\n```',
  '```"><img src=x onerror=window.owned=21>\ncode\n```',
  '`<img src=x onerror=window.owned=22>`',
  '| <img src=x onerror=window.owned=23> |\n|---|\n| <script>window.owned=23</script> |',
  '<!--><img src=x onerror=window.owned=24>-->',
  '<![CDATA[<img src=x onerror=window.owned=25>]]>',
  '<scr<script>ipt>window.owned=26</scr</script>ipt>',
  '[x]: javascript:window.owned=27\n[x]',
  '[x](<javascript:window.owned=28>)',
  '<https://example.org/"onmouseover="window.owned=29">',
];

describe('hostile text', function () {
  this.timeout(60_000);
  const open = useViews();

  it('runs, loads and covers nothing, whether it comes at once or as a stream', async () => {
    const view = await open({ snapshot: snapshot({ rows: corpus.map((text, i) => assistant(`a${i}`, text)), turn: running('streaming') }) });
    const requested: string[] = [];
    view.page.on('request', (request) => requested.push(request.url()));
    for (const [i, text] of corpus.entries()) {
      const half = Math.ceil(text.length / 2);
      await view.delta(liveText(`l${i}`, text.slice(0, half)), liveText(`l${i}`, text.slice(half)));
    }
    for (const link of await view.find('tk-markdown a').all()) await link.click();
    for (const element of await view.find('tk-markdown kbd, tk-markdown b').all()) await element.click();
    strictEqual(await view.page.evaluate(() => (window as { owned?: number }).owned), undefined);
    deepStrictEqual(requested, []);
    const opened = (await view.requests('open_link')).map((r) => (r.method === 'open_link' ? new URL(r.href).protocol : ''));
    deepStrictEqual([...new Set(opened)], ['https:']);
    deepStrictEqual(
      await view.page.evaluate(() => {
        const inside = [...document.querySelectorAll('tk-markdown *')];
        const odd = inside.filter((e) => e.attributes.length > 0 && [...e.attributes].some((a) => /^on|^style$|^src|^href$|^id$|^name$/.test(a.name)));
        const tags = inside.filter((e) => /SCRIPT|STYLE|IFRAME|OBJECT|EMBED|LINK|META|BASE|FORM|INPUT|IMG|VIDEO|TEMPLATE|-/.test(e.tagName));
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
