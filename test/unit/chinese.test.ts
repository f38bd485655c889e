import { deepStrictEqual, doesNotMatch } from 'node:assert';
import { OfflineModel } from '../../src/core/offline/offlineModel';
import { modelTurnError, savedTurnError, storeTurnError, wholeError } from '../../src/core/chat/turn/turnError';
import { StoreError } from '../../src/core/errors';
import { english, shown } from '../../src/core/l10n';
import type { ModelRequest } from '../../src/core/models/modelRequest';
import type { EntryContent } from '../../src/core/session/entry';
import { transcriptBlock, blockMarkdown } from '../../src/core/transfer/transcriptBlocks';
import { pageHead } from '../../src/node/transfer/export/transcriptHtml';
import { useChinese } from '../support/vscode/chinese';

const request = (text: string): ModelRequest => ({
  model: 'offline',
  system: '',
  tools: [],
  maxOutputTokens: 1_000,
  messages: [{ role: 'user', blocks: [{ type: 'text', text }] }],
});
const nothing = {
  search: () => Promise.resolve({ hits: [], complete: false, statistics: { count: 0, length: 0, documentFrequency: [], named: [] } }),
};

describe('in Chinese', () => {
  useChinese();

  it('offline mode answers', async () => {
    const model = new OfflineModel({
      store: nothing as never,
      notes: {
        list: () => Promise.reject(new StoreError('io', english('{0} is not a database', 'notes'))),
        read: () => Promise.resolve(''),
      },
      files: null,
    });
    const answers: string[] = [];
    for (const text of ['你好！', '灯塔的端口是多少']) {
      for await (const event of model.stream(request(text), new AbortController().signal))
        if (event.type === 'block' && event.block.type === 'text') answers.push(event.block.text);
    }
    const hint =
      '要与模型聊天，请设置 API 密钥：在 VS Code 中使用命令 *Threadkeeper: 设置 API 密钥…*，在其他地方使用 `ANTHROPIC_API_KEY`。';
    const opening = '离线：搜索您的文件、笔记和过往聊天。无 AI 回答。';
    deepStrictEqual(answers, [
      [opening, '请询问您在这里谈过或文件中保存的内容：用名称、路径、错误文本和其他少见的词最容易找到。', hint].join('\n\n'),
      [
        opening,
        '没有与您的问题匹配的内容。请换用其他词：名称、路径、错误文本。',
        '未搜索全部历史记录：仍在编制索引。',
        '无法搜索笔记：notes 不是数据库',
        hint,
      ].join('\n\n'),
    ]);
  });

  it('an export has its headings', () => {
    const contents: EntryContent[] = [
      { type: 'message', role: 'user', text: 'Hello' },
      { type: 'message', role: 'assistant', text: 'Hi', interrupted: 'disconnected' },
      { type: 'tool_result', callId: 'c1', name: 'read_file', status: 'denied', text: 'no' },
      { type: 'label', target: 'e1', label: 'draft' },
      { type: 'compaction_undone', target: 'e2' } as never,
    ];
    const heads = contents.map((content) => {
      const block = transcriptBlock({
        uuid: 'e',
        seq: 1,
        session: 's',
        parent: null,
        createdAt: Number.NaN,
        display: true,
        content,
      } as never);
      return block && blockMarkdown(block);
    });
    deepStrictEqual(heads, [
      '## 您 · 未知时间\n\nHello',
      '## 助手 · 未知时间\n\nHi\n\n*连接中断*',
      '**read\\_file 的结果（不允许）** · 未知时间\n\n```\nno\n```',
      '**标签：draft** · 未知时间',
      '**已撤消压缩** · 未知时间',
    ]);
    deepStrictEqual(/<html lang="([^"]+)">/.exec(pageHead('a', 'b'))?.[1], 'zh-cn');
  });

  it('an error says what lies behind it', () => {
    const texts = [
      storeTurnError(new StoreError('io', english("{0}: the store's worker ended with code {1}", '/home/h', 3)), true).message,
      modelTurnError({ reason: 'network', detail: english('The server {0} sent nothing for {1} s.', 'api.anthropic.com', 90) }, 'm')
        .message,
      wholeError(savedTurnError({ reason: 'network', detail: english('The server {0} sent nothing for {1} s.', 'host', 90) }, 'm', 3)),
      modelTurnError(
        {
          reason: 'budget',
          detail: english(
            '{0} Nothing was sent. Your message is saved.',
            english("Today's requests have cost ${0}, and the budget is ${1} (setting threadkeeper.budget.perDay).", '2.00', '1.00'),
          ),
        },
        'm',
      ).message,
      english('Another window owns this store: {0}, process {1} on {2}', english('VS Code window'), 7, 'host'),
    ].map(shown);
    for (const text of texts) doesNotMatch(text.replace(/threadkeeper\.\S+|VS Code|\/home\/h/g, ''), /[a-z]{2,} [a-z]{2,}/i);
  });
});
