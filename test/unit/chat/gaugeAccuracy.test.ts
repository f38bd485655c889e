import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliRun } from '../../support/cliRun';
import { MessagesApi } from '../../support/messagesApi';
import { reply } from '../../support/messagesApiScript';

const prose = 'The harbour was quiet when the pilot came aboard, and nobody spoke of the fog that had kept them waiting. ';
const code = 'export function parseHeader(line: string): Header | undefined {\n  const [name, ...rest] = line.split(":");\n  return rest.length === 0 ? undefined : { name: name.trim(), value: rest.join(":").trim() };\n}\n';
const uuids = Array.from({ length: 6 }, (_, i) => `3f2504e0-4f89-11d3-9a0c-0305e82c33${(10 + i).toString(16)}`).join('\n');
const chinese = '压缩之后，原来的内容仍然保存在数据库里，模型可以随时查阅被折叠的部分。';
const base64 = 'U29tZSBiaW5hcnkgY29udGVudCB0aGF0IG5vYm9keSByZWFkcw'.repeat(4);
const kinds = [prose, code, prose, chinese, code, uuids, prose, base64, code, prose];

describe('the gauge', () => {
  it('shows before a request what the provider then reports: median within 1 %, 95th percentile within 3 %, from the third turn', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-gauge-'));
    const api = await MessagesApi.start();
    api.setModel('claude-test', { window: 200_000, maxOutput: 8_000 });
    const run = new CliRun(['run', '--store', folder, '--base-url', api.url, '--model', 'claude-test'], { ANTHROPIC_API_KEY: api.apiKey });
    try {
      const errors: number[] = [];
      for (let turn = 1; turn <= 30; turn++) {
        const text = kinds[turn % kinds.length]!.repeat(1 + (turn % 4));
        api.enqueue(reply(`Answer ${turn}. ${kinds[(turn * 3) % kinds.length]!.repeat(1 + (turn % 3))}`));
        run.send({ cmd: 'send', id: turn, text });
        await run.done(turn);
        const usageAt = run.lines.findLastIndex(({ type }) => type === 'usage');
        const usage = run.lines[usageAt]!;
        const reported = Number(usage['input']) + Number(usage['cacheRead']) + Number(usage['cacheWrite']);
        const startedAt = run.lines.findLastIndex(({ type }) => type === 'turn_started');
        const firstText = run.lines.findIndex(({ type }, index) => index > startedAt && type === 'text_delta');
        const shown = run.lines.slice(startedAt, firstText).findLast(({ type }) => type === 'context')!;
        if (turn >= 3) errors.push(Math.abs(Number(shown['used']) - reported) / reported);
      }
      errors.sort((a, b) => a - b);
      const [median, p95] = [errors[Math.floor(errors.length / 2)]!, errors[Math.floor(errors.length * 0.95)]!];
      assert.ok(median <= 0.01 && p95 <= 0.03, `median ${(median * 100).toFixed(2)} %, 95th percentile ${(p95 * 100).toFixed(2)} %`);
    } finally {
      run.kill();
      await api.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
