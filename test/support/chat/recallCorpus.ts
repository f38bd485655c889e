/** One user message and its answer. */
export interface CorpusTurn {
  /** Turns of one conversation follow each other. */
  readonly session: number;
  readonly user: string;
  readonly assistant: string;
}

export interface PlantedFact {
  readonly question: string;
  /** As stated first, then as corrected; each stands nowhere else. */
  readonly values: readonly string[];
}

export interface RecallCorpus {
  readonly turns: readonly CorpusTurn[];
  readonly facts: readonly PlantedFact[];
}

export interface RecallCorpusOptions {
  readonly seed: number;
  readonly turns: number;
  readonly facts: number;
  /** How many of the facts are corrected, three times each. */
  readonly updated: number;
}

const turnsPerSession = 100;
const corrections = 3;

/**
 * Working conversations with planted facts, half English and half Chinese. Every fact is about a project that is talked about all
 * the time, in the words of facts about other projects; every fourth stands in an answer to a question and does not name its
 * project; some are repeated by the assistant.
 */
export function recallCorpus({ seed, turns: count, facts: factCount, updated }: RecallCorpusOptions): RecallCorpus {
  const random = new SeededRandom(seed);
  const value = valueSource();
  const turns: CorpusTurn[] = Array.from({ length: count }, (_, i) => {
    const language = i % 2 === 0 ? english : chinese;
    return { session: Math.floor(i / turnsPerSession), user: language.chat(random), assistant: language.reply(random) };
  });
  const free = random.shuffled(Array.from({ length: count / 2 }, (_, i) => i));
  const asked = new Set<number>();
  const facts = Array.from({ length: factCount }, (_, n): PlantedFact => {
    const language = n % 2 === 0 ? english : chinese;
    const kind = language.kinds[Math.floor(n / 2) % language.kinds.length]!;
    const project = language.projects[Math.floor(n / 2 / language.kinds.length) % language.projects.length]!;
    const values = Array.from({ length: n % Math.floor(factCount / updated) === 0 ? 1 + corrections : 1 }, () => value(kind.unit));
    const places = values.map(() => free.pop()!).sort((x, y) => x - y);
    values.forEach((stated, i) => {
      const at = places[i]! * 2 + (n % 2);
      const { session, assistant } = turns[at]!;
      const before = at - 1;
      if (i === 0 && Math.floor(n / 2) % 4 === 3 && turns[before]?.session === session) {
        // Asked by the assistant, answered in one breath.
        asked.add(before);
        turns[before] = { ...turns[before]!, assistant: kind.ask(project) };
        turns[at] = { session, user: kind.bare(stated), assistant };
        return;
      }
      const said = i === 0 ? kind.state(project, stated) : kind.correct[(i - 1) % kind.correct.length]!(project, stated);
      turns[at] = {
        session,
        user: `${language.chat(random)} ${said}`,
        assistant: random.next() < 0.3 && !asked.has(at) ? kind.echo(project, stated) : assistant,
      };
    });
    return { question: kind.question(project), values };
  });
  return { turns, facts };
}

interface Kind {
  readonly unit: Unit;
  readonly state: (project: string, value: string) => string;
  readonly correct: readonly ((project: string, value: string) => string)[];
  readonly echo: (project: string, value: string) => string;
  readonly ask: (project: string) => string;
  readonly bare: (value: string) => string;
  readonly question: (project: string) => string;
}

interface Language {
  readonly projects: readonly string[];
  readonly kinds: readonly Kind[];
  chat(random: SeededRandom): string;
  reply(random: SeededRandom): string;
}

type Unit = 'port' | 'day' | 'person' | 'place' | 'money';

function valueSource(): (unit: Unit) => string {
  let n = 0;
  return (unit) => {
    n++;
    switch (unit) {
      case 'port':
        return String(20_000 + n * 37);
      case 'day':
        return `2027-${String(1 + (n % 12)).padStart(2, '0')}-${String(1 + (Math.floor(n / 12) % 28)).padStart(2, '0')}`;
      case 'person':
        return `Riv${syllable(n)}${syllable(n * 3 + 1)}o`;
      case 'place':
        return `zone-${n}-north`;
      case 'money':
        return String(100_000 + n * 113);
    }
  };
}

function syllable(n: number): string {
  return `${'bdfgklmnprstvz'[n % 14]}${'aeiou'[Math.floor(n / 14) % 5]}${'lmnrst'[Math.floor(n / 70) % 6]}`;
}

const english: Language = {
  projects:
    'Harbor Falcon Juniper Quartz Lantern Meadow Nimbus Orchard Pelican Saffron Timber Umbra Velvet Willow Zephyr Anchor Birch Comet Drift Ember'.split(
      ' ',
    ),
  kinds: [
    {
      unit: 'port',
      state: (p, v) => `The ${p} service listens on port ${v}.`,
      correct: [
        (p, v) => `The ${p} service now listens on port ${v}.`,
        (p, v) => `Correction: the port of ${p} is ${v}.`,
        (p, v) => `We had to change the port of the ${p} service again, to ${v}.`,
      ],
      echo: (p, v) => `Noted, port ${v} for ${p}.`,
      ask: (p) => `Which port does the ${p} service listen on?`,
      bare: (v) => `It is ${v}, as far as I know.`,
      question: (p) => `Which port does ${p} use?`,
    },
    {
      unit: 'day',
      state: (p, v) => `We promised the customer to deliver ${p} on ${v}.`,
      correct: [
        (p, v) => `The delivery of ${p} is postponed to ${v}.`,
        (p, v) => `New date: ${p} will be delivered on ${v}.`,
        (p, v) => `The customer accepts that ${p} is delivered on ${v}.`,
      ],
      echo: (p, v) => `I will remember ${v} as the delivery date of ${p}.`,
      ask: (p) => `When do we deliver ${p} to the customer?`,
      bare: (v) => `Let us say ${v}.`,
      question: (p) => `When is the delivery of ${p}?`,
    },
    {
      unit: 'person',
      state: (p, v) => `${v} is responsible for ${p}.`,
      correct: [
        (p, v) => `${v} is now responsible for ${p}.`,
        (p, v) => `From Monday on the person responsible for ${p} is ${v}.`,
        (p, v) => `The responsibility for ${p} went to ${v}.`,
      ],
      echo: (p, v) => `Understood: ${p} belongs to ${v}.`,
      ask: (p) => `Who is responsible for ${p}?`,
      bare: (v) => `That would be ${v}.`,
      question: (p) => `who is responsible for ${p}`,
    },
    {
      unit: 'place',
      state: (p, v) => `${p} is deployed in ${v}.`,
      correct: [
        (p, v) => `Since the incident ${p} is deployed in ${v}.`,
        (p, v) => `The deployment of ${p} moved to ${v}.`,
        (p, v) => `We deployed ${p} in ${v} instead.`,
      ],
      echo: (p, v) => `So ${v} it is for ${p}.`,
      ask: (p) => `In which zone is ${p} deployed?`,
      bare: (v) => `In ${v}.`,
      question: (p) => `Where do we deploy ${p}?`,
    },
    {
      unit: 'money',
      state: (p, v) => `The yearly budget of ${p} is ${v} euros.`,
      correct: [
        (p, v) => `The yearly budget of ${p} was raised to ${v} euros.`,
        (p, v) => `Finance cut the budget of ${p} to ${v} euros.`,
        (p, v) => `The budget of ${p} is ${v} euros from now on.`,
      ],
      echo: (p, v) => `A budget of ${v} euros for ${p}, then.`,
      ask: (p) => `What is the yearly budget of ${p}?`,
      bare: (v) => `About ${v} euros.`,
      question: (p) => `How large is the budget for ${p}?`,
    },
  ],
  chat(random) {
    const p = random.one(this.projects);
    return random.one([
      `Please look at the logs of ${p} once more and tell me what the parser says.`,
      `I think the ${p} tests are slow because of the cache, can you measure them?`,
      `Can you refactor the menu of ${p} so that the release notes are easier to read?`,
      `The port of the old parser to ${p} is nearly done, only the layout is missing.`,
      `What do the customers say about ${p} and its search?`,
      `Let us deliver the small fixes first and talk about ${p} afterwards.`,
      'Thanks, that works. Next, the gauge and the colours.',
      `The service team of ${p} asks whether the worker can be split.`,
      'Could you summarise where we stand and who is waiting for what?',
      `We should not deploy on Fridays, least of all ${p}.`,
      'Ask the budget committee for a slot in the meeting, please.',
    ]);
  },
  reply(random) {
    const sentence = () => {
      const p = random.one(this.projects);
      return random.one([
        `I read the logs of ${p}; the parser complains about a missing field in two places.`,
        'The cache misses come from the worker, which starts before the layout is known.',
        `For ${p} I would split the menu into two files and keep the search where it is.`,
        'The tests pass in eleven seconds after the change, and in fourteen before it.',
        `The service of ${p} starts, listens and answers; I see nothing wrong with it.`,
        'If we deploy this today, the customer sees the new colours tomorrow.',
        `The budget of tokens for ${p} is fine, the gauge shows less than half.`,
        'Nobody is responsible for the flaky test yet, so I would fix it first.',
      ]);
    };
    return Array.from({ length: 1 + Math.floor(random.next() * 5) }, sentence).join(' ');
  },
};

const chinese: Language = {
  projects: '海燕 北辰 青松 飞鱼 白鹭 长风 秋叶 星河 云雀 赤狐 银杏 朝露 远山 竹海 夜莺 晨光 玉兰 沧浪 流萤 霜降'.split(' '),
  kinds: [
    {
      unit: 'port',
      state: (p, v) => `${p}服务的端口是${v}。`,
      correct: [(p, v) => `${p}服务的端口现在是${v}。`, (p, v) => `更正：${p}的端口是${v}。`, (p, v) => `${p}服务的端口又改成${v}了。`],
      echo: (p, v) => `好的，${p}用端口${v}。`,
      ask: (p) => `${p}服务用哪个端口？`,
      bare: (v) => `应该是${v}。`,
      question: (p) => `${p}的端口是多少？`,
    },
    {
      unit: 'day',
      state: (p, v) => `我们答应客户在${v}交付${p}。`,
      correct: [(p, v) => `${p}的交付推迟到${v}。`, (p, v) => `新日期：${p}在${v}交付。`, (p, v) => `客户同意${p}改在${v}交付。`],
      echo: (p, v) => `记下了，${p}的交付日期是${v}。`,
      ask: (p) => `${p}什么时候交付给客户？`,
      bare: (v) => `就定在${v}吧。`,
      question: (p) => `${p}什么时候交付？`,
    },
    {
      unit: 'person',
      state: (p, v) => `${p}由${v}负责。`,
      correct: [(p, v) => `${p}现在由${v}负责。`, (p, v) => `从周一起${p}的负责人是${v}。`, (p, v) => `${p}改由${v}负责了。`],
      echo: (p, v) => `明白，${v}负责${p}。`,
      ask: (p) => `${p}由谁负责？`,
      bare: (v) => `是${v}。`,
      question: (p) => `谁负责${p}？`,
    },
    {
      unit: 'place',
      state: (p, v) => `${p}部署在${v}。`,
      correct: [(p, v) => `故障以后${p}部署在${v}。`, (p, v) => `${p}的部署迁到了${v}。`, (p, v) => `我们把${p}改为部署在${v}。`],
      echo: (p, v) => `那么${p}在${v}。`,
      ask: (p) => `${p}部署在哪个区？`,
      bare: (v) => `在${v}。`,
      question: (p) => `${p}部署在哪里？`,
    },
    {
      unit: 'money',
      state: (p, v) => `${p}的年度预算是${v}欧元。`,
      correct: [
        (p, v) => `${p}的年度预算提高到${v}欧元。`,
        (p, v) => `财务把${p}的预算减到${v}欧元。`,
        (p, v) => `从现在起${p}的预算是${v}欧元。`,
      ],
      echo: (p, v) => `也就是说${p}有${v}欧元的预算。`,
      ask: (p) => `${p}的年度预算是多少？`,
      bare: (v) => `大约${v}欧元。`,
      question: (p) => `${p}的预算有多少？`,
    },
  ],
  chat(random) {
    const p = random.one(this.projects);
    return random.one([
      `请再看一遍${p}的日志，告诉我解析器说了什么。`,
      `我觉得${p}的测试慢是因为缓存，你能测一下吗？`,
      `能不能把${p}的菜单重构一下，让发布说明更容易读？`,
      `客户对${p}的搜索怎么说？`,
      `先交付那些小的修正，然后再谈${p}。`,
      '谢谢，可以了。接下来是仪表和颜色。',
      `${p}的服务团队问能不能把工作线程拆开。`,
      '请总结一下我们现在的进度，谁在等什么。',
      `星期五不要部署，尤其是${p}。`,
    ]);
  },
  reply(random) {
    const sentence = () => {
      const p = random.one(this.projects);
      return random.one([
        `我看了${p}的日志，解析器有两处抱怨缺少字段。`,
        '缓存没有命中是因为工作线程在布局之前就启动了。',
        `对于${p}，我会把菜单拆成两个文件，搜索留在原处。`,
        '改动之后测试用十一秒，之前用十四秒。',
        `${p}的服务能启动也能回答，我看不出问题。`,
        '如果今天部署，客户明天就能看到新的颜色。',
        '还没有人负责那个不稳定的测试，我会先修它。',
      ]);
    };
    return Array.from({ length: 1 + Math.floor(random.next() * 5) }, sentence).join('');
  },
};

/** Mulberry32. */
class SeededRandom {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  one<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = Math.floor(this.next() * (i + 1));
      [copy[i], copy[j]] = [copy[j]!, copy[i]!];
    }
    return copy;
  }
}
