import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wantsSummary } from '../../support/messagesApi/messagesApiDefault';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { plantedFacts, prose, seeded } from '../corpus';
import { asksIn, check, Driver, lossySummary, thousands, type BenchRow } from './driver';

const turns = 150;
const factCount = 40;
/** Tokens of one tool result; three calls a turn. */
const resultTokens = 1_200;

/** 150 turns with three calls each, whose results carry facts; the summariser forgets most of what it is shown. */
export async function toolHeavy(): Promise<BenchRow[]> {
  const random = seeded(2);
  const facts = plantedFacts(factCount, 11);
  const driver = await Driver.start({
    respond: (request) => {
      if (wantsSummary(request)) return lossySummary(request, 1);
      const queries = asksIn(request, /^look up: (.+)$/gm);
      if (queries.length > 0) return reply(...queries.map((query) => toolCall('recall', { query, maxTokens: 600 })));
      const notes = asksIn(request, /^read note (\S+)$/gm);
      if (notes.length > 0)
        return reply('I read them.', ...notes.map((path) => toolCall('memory', { command: 'view', path: `/memories/${path}` })));
      return reply(`Done reading. ${prose(60, random)}`);
    },
  });
  try {
    const folder = join(driver.folder, 'notes');
    await mkdir(folder, { recursive: true });
    const names = Array.from({ length: turns * 3 }, (_, index) => `report-${index}.md`);
    let right = 0;
    for (let turn = 0; turn < turns; turn++) {
      const mine = names.slice(turn * 3, turn * 3 + 3);
      for (const [index, name] of mine.entries()) {
        const fact = index === 0 ? facts[Math.floor((turn * factCount) / turns)]! : undefined;
        const first =
          index === 0 && (turn === 0 || Math.floor(((turn - 1) * factCount) / turns) !== Math.floor((turn * factCount) / turns));
        await writeFile(
          join(folder, name),
          `${prose(resultTokens / 2, random)}\n${fact && first ? fact.sentence : ''}\n${prose(resultTokens / 2, random)}\n`,
        );
      }
      const { ok } = await driver.turn(mine.map((name) => `read note ${name}`).join('\n'));
      if (ok === true) right++;
    }
    const sent = driver.sent();
    const compactions = driver.compactions();
    const stable = driver.stableShare();
    const held = Math.max(0, ...compactions.map((line) => Number(line['heldMs'])));

    let found = 0;
    for (let from = 0; from < facts.length; from += 10) {
      const part = facts.slice(from, from + 10);
      const before = driver.run.of('tool_result').length;
      await driver.turn(part.map(({ question }) => `look up: ${question}`).join('\n'));
      const results = driver.run.of('tool_result').slice(before);
      found += part.filter(({ answer }, index) => String(results[index]?.['text']).includes(answer)).length;
    }
    return [
      check('tool-heavy: turns right', `${right} of ${turns}`, '150', right === turns),
      check('tool-heavy: compactions', String(compactions.length), '≤ 10', compactions.length <= 10),
      check('tool-heavy: facts lost', `${factCount - found} of ${factCount}`, '0', found === factCount),
      check('tool-heavy: prompt tokens new or cached', stable.toFixed(3), '≥ .98', stable >= 0.98),
      check('tool-heavy: longest wait for a compaction', `${(held / 1000).toFixed(2)} s`, '0 s', held < 100),
      check('tool-heavy: prompt tokens sent / cost units', `${thousands(sent.prompt)} / ${thousands(sent.cost)}`, '(no target)', true),
    ];
  } finally {
    await driver.dispose();
  }
}
