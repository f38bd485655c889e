import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Responder } from '../../support/messagesApi/messagesApi';
import { wantsSummary } from '../../support/messagesApi/messagesApiDefault';
import type { RecordedRequest } from '../../support/messagesApi/messagesApiExchange';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { plantedFacts, prose, seeded, type Fact } from '../corpus';
import { asksIn, lossySummary } from '../peers/driver';
import { coldReturns, factsInLast, prefixBreaks, priceErrors, totalCost, unseenFacts, type ColdReturn } from './ledger';
import { PaceRig } from './paceRig';
import { personsPauses, steadyPauses } from './pauses';

export type Pace = 'steady' | 'person';

export interface Outcome {
  readonly turns: number;
  readonly right: number;
  readonly facts: number;
  readonly cost: number;
  readonly cold: readonly ColdReturn[];
  readonly factsInLast: number;
  readonly factsReached: number;
  readonly factsUnseen: number;
  readonly prefixBreaks: number;
  readonly compactions: number;
  /** The longest that a turn had to wait for one. */
  readonly heldMs: number;
  readonly priceErrors: readonly number[];
  /** Without those that look the facts up at the end. */
  readonly requests: readonly RecordedRequest[];
}

interface Script {
  readonly turns: number;
  readonly facts: readonly Fact[];
  readonly respond: Responder;
  readonly hasFiles: boolean;
  readonly say: (turn: number, rig: PaceRig) => Promise<string>;
}

/** `PACE_TURNS=60` cuts the conversations short. */
const shortened = (turns: number) => Math.min(turns, Number(process.env['PACE_TURNS'] ?? turns));
const summarySeconds = 0.5;

/** So that 300 turns carry about 547,000 tokens. */
const chatTokens = 900;

/** 300 turns of plain conversation with a fact in every fifth. */
export function chat(summarise = lossySummary): Script {
  const random = seeded(1);
  const turns = shortened(300);
  const facts = plantedFacts(Math.floor(turns / 5));
  return {
    turns,
    facts,
    hasFiles: false,
    respond: (request) =>
      wantsSummary(request) ? summarise(request, summarySeconds) : reply(`Turn understood. ${prose(chatTokens, random)}`),
    say: async (turn) => {
      const fact = turn % 5 === 0 ? facts[turn / 5] : undefined;
      return `${prose(chatTokens, random)}${fact ? ` ${fact.sentence}` : ''}`;
    },
  };
}

/** Three files a turn; so that 150 turns carry about 942,000 tokens of files. */
const filesPerTurn = 3;
const fileTokens = 2_000;

/** 150 turns that read files, in which the facts stand. */
export function files(): Script {
  const random = seeded(2);
  const turns = shortened(150);
  const facts = plantedFacts(Math.floor((turns * 40) / 150), 11);
  const factOf = new Map(facts.map((fact, index) => [Math.floor((index * turns) / facts.length), fact]));
  return {
    turns,
    facts,
    hasFiles: true,
    respond: (request) => {
      if (wantsSummary(request)) return lossySummary(request, summarySeconds);
      const paths = asksIn(request, /^read (\S+)$/gm);
      if (paths.length > 0) return reply('I read them.', ...paths.map((path) => toolCall('read_file', { path })));
      return reply(`Done reading. ${prose(60, random)}`);
    },
    say: async (turn, rig) => {
      const names = Array.from({ length: filesPerTurn }, (_, index) => `report-${turn}-${index}.md`);
      for (const [index, name] of names.entries()) {
        const fact = index === 1 ? factOf.get(turn) : undefined;
        const lines = [prose(fileTokens / 2, random), fact?.sentence ?? '', prose(fileTokens / 2, random)];
        await writeFile(join(rig.folder, name), `${lines.map((line) => line.replaceAll('. ', '.\n')).join('\n')}\n`);
      }
      return names.map((name) => `read ${name}`).join('\n');
    },
  };
}

/** Turns after which the program knows how this provider counts. */
const turnsToLearn = 2;

export async function play({ turns, facts, respond, hasFiles, say }: Script, pace: Pace): Promise<Outcome> {
  const rig = await PaceRig.start({ respond, hasFiles });
  try {
    const pauses = pace === 'person' ? personsPauses(turns) : steadyPauses(turns);
    const sent: { at: number; pause: number }[] = [];
    let right = 0;
    for (const [turn, pause] of pauses.entries()) {
      const text = await say(turn, rig);
      const { ok, at } = await rig.turn(text, pause);
      sent.push({ at, pause });
      if (ok) right++;
    }
    const requests = rig.api.messages;
    let factsReached = 0;
    for (const { question, answer } of facts) if ((await rig.lookUp(question)).includes(answer)) factsReached++;
    return {
      turns,
      right,
      facts: facts.length,
      cost: totalCost(requests),
      cold: coldReturns(requests, sent),
      factsInLast: factsInLast(requests, facts),
      factsReached,
      factsUnseen: unseenFacts(requests, facts).length,
      prefixBreaks: prefixBreaks(requests),
      compactions: rig.compactions.length,
      heldMs: Math.max(0, ...rig.compactions.map(({ content }) => content.heldMs)),
      priceErrors: priceErrors(requests, rig.announced.slice(turnsToLearn)),
      requests,
    };
  } finally {
    await rig.dispose();
  }
}
