import { deepEqual, equal } from 'node:assert/strict';
import * as fc from 'fast-check';
import { asksWhen, resolveDates } from '../../../src/core/recall/relativeDates';

/** A Wednesday. */
const at = new Date(2026, 10, 18, 9, 30).getTime();
const days = (text: string, when = at) => resolveDates(text, when).map(({ said, day }) => [said, day]);

describe('dates named relative to the day on which they were said', () => {
  const known: readonly [said: string, day: string][] = [
    ['today', '2026-11-18'],
    ['yesterday', '2026-11-17'],
    ['last night', '2026-11-17'],
    ['the day before yesterday', '2026-11-16'],
    ['tomorrow', '2026-11-19'],
    ['last Friday', '2026-11-13'],
    ['last Wednesday', '2026-11-11'],
    ['this Friday', '2026-11-20'],
    ['next Wednesday', '2026-11-25'],
    ['two weeks ago', '2026-11-02 to 2026-11-08'],
    ['3 days ago', '2026-11-15'],
    ['a month ago', '2026-10'],
    ['last week', '2026-11-09 to 2026-11-15'],
    ['last weekend', '2026-11-14 to 2026-11-15'],
    ['last month', '2026-10'],
    ['last year', '2025'],
    ['last June', '2026-06'],
    ['last December', '2025-12'],
    ['next March', '2027-03'],
    ['in two weeks', '2026-11-30 to 2026-12-06'],
    ['昨天', '2026-11-17'],
    ['前天', '2026-11-16'],
    ['明天', '2026-11-19'],
    ['上周五', '2026-11-13'],
    ['上个星期天', '2026-11-15'],
    ['这周一', '2026-11-16'],
    ['下周三', '2026-11-25'],
    ['上上周二', '2026-11-03'],
    ['上个月', '2026-10'],
    ['去年', '2025'],
    ['三天前', '2026-11-15'],
    ['两周前', '2026-11-02 to 2026-11-08'],
    ['十二天前', '2026-11-06'],
  ];
  for (const [said, day] of known) it(`"${said}" is ${day}`, () => deepEqual(days(`We met ${said}, 是的。`), [[said, day]]));

  it('are those of the day, not of today, over the ends of months and years', () => {
    deepEqual(days('yesterday', new Date(2024, 2, 1).getTime()), [['yesterday', '2024-02-29']]);
    deepEqual(days('last month', new Date(2026, 0, 31).getTime()), [['last month', '2025-12']]);
    deepEqual(days('last Friday', new Date(2026, 10, 20).getTime()), [['last Friday', '2026-11-13']]);
  });

  it('are none where none is named, or the day is not known', () => {
    deepEqual(days('The last commit broke the next build; at last it is monday.ts'), []);
    deepEqual(days('yesterday', Number.NaN), []);
  });

  it('come for any text, few and fast', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('last ', 'two ', 'a couple of ', 'weeks ', 'ago', '上', '周', '五', '十', ' in ', '前', '\n'), {
          maxLength: 300,
        }),
        (parts) => {
          equal(resolveDates(parts.join(''), at).length <= 12, true);
        },
      ),
    );
  });

  it('are asked for by some questions', () => {
    deepEqual(['When did she go?', '什么时候交付？', 'What year was it', 'Which port?', 'whenever'].map(asksWhen), [
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
