import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { patience } from '../../support/run/patience';
import { axeViolations } from '../support/axe';
import { assistant, running, snapshot, user } from '../support/fixtures';
import { useViews, type View } from '../support/openView';
import { hostileFormulas } from '../hostile/hostileTexts';
import { themes, type ThemeName } from '../support/themes';

const answer = [
  'For $x \\in \\mathbb{R}^n$ and \\(\\alpha_1 \\ge 0\\), it costs $5 and $6, and `$code$` stays.',
  '',
  '$$',
  '\\begin{aligned}',
  'f(x) &= \\sum_{i=1}^{n} \\frac{x_i^2}{2} \\\\',
  '&= \\boxed{\\sqrt{a^2 + b^2}}',
  '\\end{aligned}',
  '$$',
  '',
  'So \\(\\nonsense{x}\\) is none.',
  '',
  '\\[ \\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\]',
].join('\n');

const drawn = (view: View, count: number) => view.until('formulas are drawn', async () => (await view.find('math').count()) === count);
const scripts = (view: View) => view.page.evaluate(() => [...document.scripts].map(({ src }) => src.split('/').at(-1)));

describe('formulas', function () {
  this.timeout(60_000);
  const open = useViews();

  it('are drawn as MathML by what is fetched for the first one; what is none stays as it was written', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Go'), assistant('a0', 'No formula for $5.')] }) });
    deepStrictEqual((await scripts(view)).includes('math.js'), false);
    await view.delta({ kind: 'row', row: assistant('a1', answer) });
    await drawn(view, 4);
    deepStrictEqual((await scripts(view)).filter((name) => name === 'math.js').length, 1);
    const texts = await view.find('[data-math]').allTextContents();
    deepStrictEqual(
      [texts[0], texts[1], texts[3]].map((text) => text!.replace(/\s/g, '')),
      ['x∈ℝn', 'α1≥0', '\\(\\nonsense{x}\\)'],
    );
    strictEqual(await view.find('.math-unknown').count(), 1);
    const line = (await view.find('tk-markdown').nth(1).locator('p').first().textContent()) ?? '';
    ok(line.includes('it costs $5 and $6, and $code$ stays'), line);
    strictEqual(await view.find('math [style], annotation').count(), 0);
  });

  it('are accessible in every theme, and wide ones are scrolled in their own place', async () => {
    const wide = `$$${Array.from({ length: 30 }, (_, i) => `x_{${i}}`).join(' + ')}$$`;
    const view = await open({
      snapshot: snapshot({ rows: [assistant('a1', `${answer}\n\n${wide}\n\nAnd $${'y + '.repeat(40)}z$ too.`)] }),
      width: 300,
    });
    await drawn(view, 6);
    const violations: Record<string, string[]> = {};
    for (const theme of Object.keys(themes) as ThemeName[]) {
      await view.setTheme(theme);
      await view.shot(`formulas-${theme}`);
      violations[theme] = await axeViolations(view);
    }
    deepStrictEqual(violations, { dark: [], light: [], hc: [], hcLight: [] });
    const overflow = await view.page.evaluate(() => {
      const list = document.querySelector('.scroller')!;
      return list.scrollWidth - list.clientWidth;
    });
    strictEqual(overflow, 0);
  });

  it('stream as text until they are closed, and do not change once they are drawn', async () => {
    const view = await open({ snapshot: snapshot({ rows: [assistant('a0', '$x$')], turn: running('streaming') }) });
    await drawn(view, 1);
    const text = 'Let $a_1 * b_1 * c$ be\n\n$$\nx\n- y\n$$\n\nDone *now*.';
    const seen = await view.page.evaluate(async (whole) => {
      const frames: string[] = [];
      for (const letter of whole) {
        window.fake.delta({ kind: 'live_text', id: 'l1', block: 'assistant', model: 'm', text: letter });
        await new Promise((resolve) => setTimeout(resolve));
        await new Promise(requestAnimationFrame);
        const last = [...document.querySelectorAll('tk-markdown')].at(-1)!;
        frames.push(`${last.querySelectorAll('math').length} ${last.querySelectorAll('em, ul, h3, h4').length}`);
      }
      return frames.filter((frame, at) => frame !== frames[at - 1]);
    }, text);
    deepStrictEqual(seen, ['0 0', '1 0', '2 0', '2 1']);
  });

  it('are copied as they were written', async () => {
    const view = await open({ snapshot: snapshot({ rows: [assistant('a1', 'Let $x^2$ be.\n\n$$\ny\n$$\n\nEnd.')] }) });
    await drawn(view, 2);
    const copied = (of: string) =>
      view.page.evaluate((selector) => {
        getSelection()!.selectAllChildren(document.querySelector(selector)!);
        const clipboardData = new DataTransfer();
        document.dispatchEvent(new ClipboardEvent('copy', { clipboardData, bubbles: true }));
        return clipboardData.getData('text/plain');
      }, of);
    deepStrictEqual((await copied('tk-markdown')).split(/\n+/), ['Let $x^2$ be.', '$$', 'y', '$$', 'End.']);
    strictEqual(await copied('math msup'), '$x^2$');
    strictEqual(await view.find('.sr-only [data-source]').count(), 0);
  });

  it('neither hang the view nor leave their place, however they are written', async () => {
    const view = await open({ snapshot: snapshot({ rows: [assistant('a0', '$x$')] }) });
    await drawn(view, 1);
    const took = await view.page.evaluate(
      (texts) => {
        const times: number[] = [];
        for (const text of texts) {
          const element = document.createElement('tk-markdown') as HTMLElement & { source: unknown };
          document.querySelector('main')!.append(element);
          const before = performance.now();
          element.source = { text, streaming: false };
          element.getBoundingClientRect();
          times.push(performance.now() - before);
          element.remove();
        }
        return times;
      },
      [
        ...hostileFormulas,
        `$\\def\\a{${'x'.repeat(400)}}${'\\a'.repeat(40)}$`,
        `$$${'\\begin{matrix}a&b\\\\c&d\\end{matrix}'.repeat(100)}$$`,
      ],
    );
    ok(Math.max(...took) < 2_000 * patience(), took.map((ms) => Math.round(ms)).join());
    console.log(`      ${took.map((ms) => Math.round(ms)).join()} ms`);
  });
});
