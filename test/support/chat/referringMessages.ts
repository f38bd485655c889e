/** Work that a history talks about: what was decided, and messages that refer to it or to nothing. */
export interface Referring {
  /** Said earlier. */
  readonly history: readonly string[];
  /** Each refers to one of `history`, by its place. */
  readonly referring: readonly { readonly text: string; readonly to: number }[];
  readonly plain: readonly string[];
}

const topics = [
  ['importer', 'reads its files in batches of 512 records'],
  ['changelog', 'is written by hand and lists what users notice'],
  ['billing export', 'uses semicolons and a byte order mark'],
  ['session cache', 'expires after ninety seconds of silence'],
  ['login page', 'keeps the dark header from the sketch'],
  ['retry policy', 'waits two, four and eight seconds'],
  ['staging database', 'listens on port 54329'],
  ['release branch', 'is cut on the first Tuesday'],
  ['image resizer', 'drops the metadata and keeps the profile'],
  ['audit log', 'is rotated at forty megabytes'],
] as const;
const chineseTopics = [
  ['导入器', '每批读取五百条记录'],
  ['更新日志', '只写用户能注意到的变化'],
  ['账单导出', '用分号分隔并带字节序标记'],
  ['会话缓存', '九十秒没有动静就过期'],
  ['登录页面', '保留草图里的深色页眉'],
  ['重试策略', '依次等待二四八秒'],
  ['审计日志', '到四十兆就轮换'],
  ['发布分支', '在每月第一个星期二切出'],
] as const;

const refer: readonly ((topic: string) => string)[] = [
  (topic) => `Do it as we decided for the ${topic}.`,
  (topic) => `What did we agree on for the ${topic}?`,
  (topic) => `Please set it up like we discussed earlier for the ${topic}.`,
  (topic) => `Do you remember what we said about the ${topic}?`,
  (topic) => `In our last session you suggested something for the ${topic}. Apply it.`,
];
const referChinese: readonly ((topic: string) => string)[] = [
  (topic) => `就按我们上次说的${topic}方案来做。`,
  (topic) => `之前我们讨论的${topic}是怎么定的？`,
  (topic) => `还记得${topic}是怎么约定的吗？`,
];

/** They name the same topics, and words that point back where they point at nothing. */
const plain: readonly ((topic: string) => string)[] = [
  (topic) => `Add a test for the ${topic}.`,
  (topic) => `Before you start on the ${topic}, run the linter.`,
  (topic) => `We should decide later whether the ${topic} needs a flag.`,
  (topic) => `Remember to update the docs of the ${topic}.`,
  (topic) => `The ${topic} failed last week; look at the log in front of you.`,
  (topic) => `Rename the ${topic} and keep the old name as an alias.`,
  (topic) => `Why is the ${topic} slower than before?`,
  (topic) => `As you can see, the ${topic} is empty. What could cause that?`,
  (topic) => `Which tests cover the ${topic}?`,
  (topic) => `Say how the ${topic} works, in two sentences.`,
  (topic) => `I think we can discuss the ${topic} tomorrow. Now fix the build.`,
  (topic) => `The user said the ${topic} is hard to find; propose a better place.`,
];
const plainChinese: readonly ((topic: string) => string)[] = [
  (topic) => `给${topic}加一个测试。`,
  (topic) => `开始做${topic}之前先运行检查。`,
  (topic) => `${topic}要不要加开关，以后再决定。`,
  (topic) => `记得更新${topic}的文档。`,
  (topic) => `${topic}为什么比以前慢？`,
  (topic) => `用两句话说明${topic}怎么工作。`,
  (topic) => `请把${topic}改名，旧名字留作别名。`,
  (topic) => `${topic}是空的，可能是什么原因？`,
  (topic) => `先修好构建，明天再谈${topic}。`,
  (topic) => `${topic}里的函数名太长，提一个更好的。`,
  (topic) => `检查${topic}有没有漏掉的情况。`,
];

export function referringMessages(): Referring {
  const history = [
    ...topics.map(([topic, fact]) => `Decided: the ${topic} ${fact}.`),
    ...chineseTopics.map(([topic, fact]) => `决定了：${topic}${fact}。`),
  ];
  const make = (forms: typeof refer, names: readonly (readonly string[])[]) =>
    names.flatMap(([topic = '']) => forms.map((form) => form(topic)));
  return {
    history,
    referring: [
      ...topics.flatMap(([topic], to) => refer.map((form) => ({ text: form(topic), to }))),
      ...chineseTopics.flatMap(([topic], i) => referChinese.map((form) => ({ text: form(topic), to: topics.length + i }))),
    ],
    plain: [...make(plain, topics), ...make(plainChinese, chineseTopics)],
  };
}
