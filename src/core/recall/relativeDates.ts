import { dateText, dayText } from './dateText';

/** A date that was named relative to the day on which it was said, and when that was. */
export interface ResolvedDate {
  /** As it was said: `last Friday`. */
  readonly said: string;
  /** `2026-11-20`; `2026-11-16 to 2026-11-22` for a week, `2026-11` for a month, `2026` for a year. */
  readonly day: string;
  /** The words that it is asked for with, as those of `dateText`. */
  readonly words: string;
}

/** A passage has no more of them: a log of thousands of lines is no talk about dates. */
const mostDates = 12;

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const months = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const amounts = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const chineseDigits = '零一二三四五六七八九十';

const amount = `\\d{1,3}|an?|${amounts.slice(1).join('|')}|(?:a )?couple(?: of)?`;
const weekday = weekdays.join('|');
const shortDay = 'sun|mon|tues?|wed|thurs?|fri|sat';
const unit = 'day|week|weekend|month|year';
const chineseAmount = '\\d{1,3}|[一二两三四五六七八九十]{1,3}';

/** Bounded repetitions only, so that no text takes longer than its length. */
const english = new RegExp(
  '\\b(?:' +
    [
      '(?<today>today|tonight|this (?:morning|afternoon|evening)|earlier today)',
      '(?<before2>(?:the )?day before yesterday)',
      '(?<yesterday>yesterday|last night)',
      '(?<after2>(?:the )?day after tomorrow)',
      '(?<tomorrow>tomorrow)',
      `(?<ago>${amount}) (?<agoUnit>${unit})s? (?:ago|back|earlier)`,
      `in (?<ahead>${amount}) (?<aheadUnit>${unit})s?\\b(?! ago)`,
      `(?<which>last|past|previous|this|next|coming) (?<day>${weekday}|${shortDay}|${months.join('|')}|week|weekend|month|year)`,
    ].join('|') +
    ')\\b',
  'giu',
);
/** Looked for first: most passages name no day, and the whole expression takes ten times as long to find none. */
const englishHint = /(?:day|night|today|ago|back|earlier|tomorrow|morning|afternoon|evening|last|past|previous|this|next|coming|\bin )/i;
const chineseHint = /[天日周期拜月年晚早]/;
const chinese = new RegExp(
  [
    '(?<far>大前天|大后天)',
    '(?<near>前天|昨天|昨晚|昨日|今天|今早|今晚|今日|明天|明晚|明日|后天)',
    '(?<week>上上|上个?|这个?|本|下下|下个?)(?:周|星期|礼拜)(?<of>[一二三四五六日天末]?)',
    '(?<month>上上?个?|这个?|本|下下?个?)月',
    '(?<year>前年|去年|今年|明年|后年)',
    `(?<n>${chineseAmount})个?(?<unit>天|日|周|星期|礼拜|月|年)(?:之|以)?(?<way>前|后)`,
  ].join('|'),
  'gu',
);

/**
 * Finds what a text says about days relative to the one on which it was said (`at`, local time): `last Friday` is the last one before
 * that day, `上周五` the Friday of the week before. Weeks begin on Monday.
 */
export function resolveDates(text: string, at: number): ResolvedDate[] {
  if (Number.isNaN(new Date(at).getTime())) return [];
  const found: ResolvedDate[] = [];
  for (const [hint, pattern, resolve] of [
    [englishHint, english, inEnglish],
    [chineseHint, chinese, inChinese],
  ] as const) {
    if (!hint.test(text)) continue;
    for (const match of text.matchAll(pattern)) {
      const date = resolve(match.groups ?? {}, new Date(at));
      if (date && !found.some(({ said }) => said === match[0])) found.push({ said: match[0], ...date });
      if (found.length >= mostDates) return found;
    }
  }
  return found;
}

/** Whether a question asks for a time: then dates come first where results are shown. */
export function asksWhen(query: string): boolean {
  return /\bwhen\b|\bwhat (?:day|date|time|year|month)\b|\bhow long ago\b|什么时候|何时|哪天|哪一天|几月|几号|多久/i.test(query);
}

type Groups = Readonly<Record<string, string | undefined>>;
type Resolved = Omit<ResolvedDate, 'said'> | null;

function inEnglish(groups: Groups, at: Date): Resolved {
  if (groups['today']) return dayAt(at, 0);
  if (groups['yesterday']) return dayAt(at, -1);
  if (groups['tomorrow']) return dayAt(at, 1);
  if (groups['before2']) return dayAt(at, -2);
  if (groups['after2']) return dayAt(at, 2);
  if (groups['ago']) return shifted(at, -amountOf(groups['ago']), groups['agoUnit'] ?? '');
  if (groups['ahead']) return shifted(at, amountOf(groups['ahead']), groups['aheadUnit'] ?? '');
  const which = (groups['which'] ?? '').toLowerCase();
  const name = (groups['day'] ?? '').toLowerCase();
  const step = which === 'this' ? 0 : which === 'next' || which === 'coming' ? 1 : -1;
  if (/^(?:week|weekend|month|year)$/.test(name)) return shifted(at, step, name);
  const month = months.indexOf(name);
  if (month !== -1) return monthOf(new Date(at.getFullYear(), month, 1), yearStep(month - at.getMonth(), step));
  const wanted = weekdays.findIndex((day) => day.startsWith(name.slice(0, 3)));
  const difference = (wanted - at.getDay() + 7) % 7;
  if (step === 0) return dayAt(at, difference);
  return dayAt(at, step === 1 ? difference || 7 : difference - 7);
}

/** "Last June" is this year's when that is over. */
function yearStep(ahead: number, step: number): number {
  if (step < 0) return ahead < 0 ? 0 : -1;
  return step > 0 && ahead <= 0 ? 1 : 0;
}

function inChinese(groups: Groups, at: Date): Resolved {
  const { far, near, week, of, month, year, n, unit: named, way } = groups;
  if (far) return dayAt(at, far === '大前天' ? -3 : 3);
  if (near) return dayAt(at, near === '前天' ? -2 : near === '后天' ? 2 : near.startsWith('昨') ? -1 : near.startsWith('明') ? 1 : 0);
  if (week) {
    const step = stepOf(week);
    if (!of) return shifted(at, step, 'week');
    if (of === '末') return shifted(at, step, 'weekend');
    const day = of === '日' || of === '天' ? 6 : '一二三四五六'.indexOf(of);
    return dayAt(monday(at), 7 * step + day);
  }
  if (month) return shifted(at, stepOf(month), 'month');
  if (year) return shifted(at, ['前年', '去年', '今年', '明年', '后年'].indexOf(year) - 2, 'year');
  const count = chineseNumber(n ?? '') * (way === '前' ? -1 : 1);
  return shifted(at, count, named === '天' || named === '日' ? 'day' : named === '月' ? 'month' : named === '年' ? 'year' : 'week');
}

/** 上 is one before, 上上 two. */
function stepOf(word: string): number {
  const sign = word.startsWith('上') ? -1 : word.startsWith('下') ? 1 : 0;
  return sign * (word[1] === word[0] ? 2 : 1);
}

function amountOf(text: string): number {
  const word = text.toLowerCase();
  if (/^an?$/.test(word)) return 1;
  if (word.includes('couple')) return 2;
  return /^\d/.test(word) ? Number(word) : amounts.indexOf(word);
}

function chineseNumber(text: string): number {
  if (/^\d/.test(text)) return Number(text);
  const [before = '', after] = text.replace('两', '二').split('十');
  const digit = (character: string) => Math.max(0, chineseDigits.indexOf(character));
  return after === undefined ? digit(before) : (before === '' ? 1 : digit(before)) * 10 + digit(after);
}

function shifted(at: Date, count: number, name: string): Resolved {
  switch (name.toLowerCase()) {
    case 'day':
      return dayAt(at, count);
    case 'week':
      return span(monday(at), 7 * count, 7);
    case 'weekend':
      return span(monday(at), 7 * count + 5, 2);
    case 'month':
      return monthOf(new Date(at.getFullYear(), at.getMonth() + count, 1), 0);
    case 'year':
      return { day: String(at.getFullYear() + count), words: String(at.getFullYear() + count) };
    default:
      return null;
  }
}

function dayAt(from: Date, days: number): Resolved {
  const day = addDays(from, days).getTime();
  return { day: dayText(day), words: dateText(day) };
}

function span(from: Date, days: number, length: number): Resolved {
  const first = addDays(from, days);
  const dates = Array.from({ length }, (_, i) => addDays(first, i).getTime());
  const words = new Set(dates.flatMap((date) => dateText(date).split(' ')));
  return { day: `${dayText(first.getTime())} to ${dayText(dates.at(-1) ?? 0)}`, words: [...words].join(' ') };
}

function monthOf(month: Date, years: number): Resolved {
  const first = new Date(month.getFullYear() + years, month.getMonth(), 1);
  const day = dayText(first.getTime()).slice(0, 7);
  return { day, words: `${day} ${months[first.getMonth()]} ${first.getFullYear()}` };
}

function monday(at: Date): Date {
  return addDays(at, -((at.getDay() + 6) % 7));
}

function addDays(date: Date, days: number): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days);
}
