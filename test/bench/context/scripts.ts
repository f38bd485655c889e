import type { ToolOutcome } from '../../../src/core/tools/tool';
import { plantedFacts, prose, seeded, type Fact } from '../corpus';

/** One turn: what the user says and what the model does about it. */
export interface ScriptedTurn {
  readonly user: string;
  readonly calls: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>>; readonly result: ToolOutcome }[];
  readonly answer: string;
}

export interface Corpus {
  readonly name: string;
  readonly turns: readonly ScriptedTurn[];
  readonly facts: readonly Fact[];
  /** The same question answered anew: the last answer holds. */
  readonly updated: readonly { readonly question: string; readonly answers: readonly string[] }[];
  /** Standing orders of the user, as given. */
  readonly rules: readonly string[];
}

const ok = (text: string): ToolOutcome => ({ text, status: 'ok' });

export function chat(turns: number, language: 'en' | 'zh'): Corpus {
  const random = seeded(language === 'en' ? 21 : 22);
  const filler = language === 'en' ? (tokens: number) => prose(tokens, random) : (tokens: number) => chineseProse(tokens, random);
  const facts = language === 'en' ? plantedFacts(Math.floor(turns / 10), 31) : chineseFacts(Math.floor(turns / 10));
  const updated = Array.from({ length: 8 }, (_, index) => updatedFact(index, language));
  const rules =
    language === 'en'
      ? [
          'Standing rule: give every length in metres.',
          'Standing rule: never mention the lighthouse keeper by name.',
          'Standing rule: end reports with the word OVER.',
        ]
      : ['长期规则：所有长度都用米。', '长期规则：不要提到灯塔看守人的名字。', '长期规则：每份报告以“完毕”结尾。'];
  const script = Array.from({ length: turns }, (_, turn): ScriptedTurn => {
    const said = [filler(60)];
    if (turn < rules.length) said.push(rules[turn]!);
    if (turn % 10 === 4) said.push(facts[Math.floor(turn / 10)]?.sentence ?? '');
    const update = updated[turn % 8];
    const round = Math.floor((turn / turns) * 4);
    // Each of the eight is said once in every quarter of the conversation.
    if (update && turn >= Math.ceil((round * turns) / 4) && turn < Math.ceil((round * turns) / 4) + 8)
      said.push(update.sentences[round] ?? '');
    return { user: said.filter(Boolean).join(' '), calls: [], answer: filler(80) };
  });
  return { name: `chat ${language}`, turns: script, facts, updated, rules };
}

/** Reading, editing and running in a made-up project; facts stand in the results of tools. Two requests a turn. */
export function codeWork(turns: number, fileTokens = 500): Corpus {
  const random = seeded(23);
  const facts = plantedFacts(Math.floor(turns / 10), 33);
  const rules = ['Standing rule: never edit generated files.', 'Standing rule: run the linter before you say that you are done.'];
  const script = Array.from({ length: turns }, (_, turn): ScriptedTurn => {
    const path = `src/part${turn % 40}/module${turn}.ts`;
    const fact = turn % 10 === 4 ? facts[Math.floor(turn / 10)] : undefined;
    const failed = turn % 7 === 3;
    return {
      user: `${rules[turn] ?? `Task ${turn}: look at ${path} and fix what is wrong there.`} ${prose(20, random)}`,
      calls: [
        {
          name: 'read_file',
          input: { path },
          result: ok(`${prose(fileTokens / 2, random)}\n${fact?.sentence ?? ''}\n${prose(fileTokens / 2, random)}`),
        },
        { name: 'edit_file', input: { path, old_str: 'a', new_str: 'b' }, result: ok(`Edited ${path}.`) },
        {
          name: 'run_command',
          input: { command: `npm test -- ${path}` },
          result: failed
            ? {
                text: `1 failing\n  ✗ module${turn} adds up\nError: expected ${turn}, got ${turn + 1}\n${prose(80, random)}`,
                status: 'error',
              }
            : ok(`12 passing\n${prose(80, random)}`),
        },
      ],
      answer: `Done with ${path}. ${prose(30, random)}`,
    };
  });
  return { name: 'code', turns: script, facts, updated: [], rules };
}

function updatedFact(index: number, language: 'en' | 'zh'): Corpus['updated'][number] & { readonly sentences: readonly string[] } {
  const answers = Array.from({ length: 4 }, (_, version) => `PLAN-${index}-${'abcd'[version]}${(index * 37 + version * 211) % 1000}`);
  const question = language === 'en' ? `current plan number of convoy ${index}` : `第${index}号车队目前的计划编号`;
  return {
    question,
    answers,
    sentences: answers.map((answer) =>
      language === 'en'
        ? `The current plan number of convoy ${index} is now ${answer}.`
        : `第${index}号车队目前的计划编号现在是${answer}。`,
    ),
  };
}

const chineseWords = [
  '仓库',
  '港口',
  '风向',
  '账目',
  '木材',
  '值班',
  '检查',
  '早晨',
  '运输',
  '温度',
  '记录',
  '桥梁',
  '货物',
  '修理',
  '安排',
  '河岸',
  '信号',
  '工人',
  '天气',
  '明天',
  '已经',
  '可能',
  '需要',
  '大家',
  '慢慢',
  '重新',
];

function chineseProse(tokens: number, random: () => number): string {
  let text = '';
  while (text.length < tokens * 0.9) {
    const length = 5 + Math.floor(random() * 6);
    text += `${Array.from({ length }, () => chineseWords[Math.floor(random() * chineseWords.length)]).join('')}。`;
  }
  return text;
}

function chineseFacts(count: number): Fact[] {
  const random = seeded(34);
  const places = ['北岸粮仓', '东门税关', '旧船坞', '山下磨坊', '西城冰窖', '南桥哨所', '老铸造厂'];
  const things = ['门锁密码', '泊位号', '备用钥匙编号', '仪表读数', '电台频道', '封条号'];
  return Array.from({ length: count }, (_, index) => {
    const question = `${places[index % places.length]}${index}区的${things[index % things.length]}`;
    const answer = `Z${10_000 + Math.floor(random() * 89_999)}-${index}`;
    return { sentence: `记录一下：${question}是${answer}。`, question, answer };
  });
}
