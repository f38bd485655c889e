import { writeFileSync } from 'node:fs';
import type { Asked } from '../messagesApi/messagesApiDefault';
import { defaultReply, wantsSummary } from '../messagesApi/messagesApiDefault';
import { reply, thinking, toolCall, type Reply } from '../messagesApi/messagesApiScript';

/** One message of the pictured conversation, and what the model answers request by request. */
export interface Scene {
  readonly says: string;
  readonly answers: readonly Reply[];
}

const rejecting = `export function parseTable(text) {
  const readings = [];
  const rejected = [];
  for (const [i, line] of text.split('\\n').entries()) {
    const reading = parseLine(line);
    if (reading) readings.push(reading);
    else if (line.trim()) rejected.push({ line: i + 1, why: reasonFor(line) });
  }
  return { readings, rejected };
}`;

/** A conversation about the sample workspace, long enough for its small window to pass a nudge. */
export const scenes: readonly Scene[] = [
  {
    says: 'Why does the tide table lose rows when a line has no time? Never add a dependency to this project.',
    answers: [
      reply(
        thinking('The parser filters lines. I should read it before I say anything.'),
        'I read the parser first.',
        toolCall('read_file', { path: 'src/table.js' }),
        toolCall('search_text', { text: 'parseTable' }),
      ),
      reply(
        '`parseTable` filters every line whose time or height does not parse, and says nothing about it. `src/cli.js` never learns how many were left out.',
      ),
    ],
  },
  {
    says: `Here is a part of last week's run, for later:\n\n${runLog(150)}`,
    answers: [reply('Read: 8 of 150 lines were rejected, all of them without a time. I keep that in mind.')],
  },
  { says: `And the same for the second station:\n\n${runLog(150)}`, answers: [reply('It loses 8 lines for the same reason.')] },
  {
    says: 'Good. Rejected lines shall carry a reason; times stay UTC.',
    answers: [
      reply(
        'That is a decision worth keeping.',
        toolCall('memory', {
          command: 'create',
          path: '/memories/decisions.md',
          file_text:
            '# Decisions\n\n- Rejected lines carry a reason and their line number.\n- Times are UTC everywhere.\n- No dependencies.\n',
        }),
      ),
      reply(`Rejected lines now carry a reason, and the decision is in my notes:\n\n\`\`\`js\n${rejecting}\n\`\`\``),
    ],
  },
  {
    says: 'Add a test for a line without a time.',
    answers: [reply('Added to `test/table.test.js`: `,2.7` is rejected as line 3 with the reason *no time*.')],
  },
];

export const lastScene: Scene = {
  says: 'What is next?',
  answers: [
    reply(
      'Next is the command line: print the number of rejected lines, and list them with `--verbose`. The plateau of two equal readings is still open (`notes/decisions.md`).',
    ),
  ],
};

const state = {
  logos: [
    '`parseTable` in src/table.js dropped lines that do not parse, without a word (#1, #4)',
    'Decided: rejected lines carry a reason and their line number, because src/cli.js has to print them (#11)',
    'Times stay UTC everywhere; heights are metres above chart datum (#11)',
    'The user wants no dependency added to this project (#1)',
  ],
  pathos: ['Brisk and content; prefers small steps'],
  abstract: ['"rejected" means: a line with text that is no reading'],
  conversation_summary:
    'The parser was found to lose lines silently. It now returns rejected lines with a reason; the command line is to print them next.',
};

/** Summaries as a good model writes them; everything else as the double does. */
export function respond(request: Asked): Reply {
  return wantsSummary(request) && !/checkpoint summary/.test(JSON.stringify(request.prompt))
    ? reply(JSON.stringify(state))
    : defaultReply(request);
}

/** Two weeks of earlier sessions as a transcript of Claude Code, so that there is something to count. */
export function writeEarlierSessions(fileOf: (name: string) => string, until: Date): string[] {
  const titles = [
    'Interpolate between two readings',
    'Read the tables of other harbours',
    'Release 1.4',
    'Why is the winter table an hour off?',
    'Tests for the plateau',
    'Draw the curve in the terminal',
  ];
  return titles.map((title, s) => {
    const lines: string[] = [];
    let parent: string | null = null;
    const common = {
      sessionId: `0000000${s}-1111-4222-8333-444444444444`,
      cwd: '/home/ada/tidewater',
      version: '2.1.0',
      isSidechain: false,
    };
    const say = (type: 'user' | 'assistant', at: number, message: object) => {
      const uuid: string = `s${s}-${lines.length}`;
      lines.push(JSON.stringify({ ...common, type, uuid, parentUuid: parent, timestamp: new Date(at).toISOString(), message }));
      parent = uuid;
    };
    for (const day of [13 - 2 * s, 12 - 2 * s, 10 - s].filter((ago) => ago > 0)) {
      for (let turn = 0; turn < 4 + ((s * 7 + day * 3) % 9); turn++) {
        const at = until.getTime() - day * 86_400_000 + turn * 240_000;
        say('user', at, { role: 'user', content: turn === 0 && parent === null ? title : `${title}: step ${turn + 1}` });
        const usage = {
          input_tokens: 400 + turn * 20,
          cache_creation_input_tokens: 1_900,
          cache_read_input_tokens: 9_000 + turn * 2_300,
          output_tokens: 600 + ((turn * 131) % 500),
        };
        say('assistant', at + 20_000, {
          id: `msg_${s}_${day}_${turn}`,
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-5-5',
          content: [{ type: 'text', text: `Step ${turn + 1} is done.` }],
          stop_reason: 'end_turn',
          usage,
        });
      }
    }
    const file = fileOf(`earlier-${s}.jsonl`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  });
}

function runLog(lines: number): string {
  return Array.from({ length: lines }, (_, i) =>
    i % 19 === 7
      ? `,${(2 + (i % 31) / 10).toFixed(1)}`
      : `2031-05-${String(1 + (i >> 3)).padStart(2, '0')}T${String((i % 8) * 3).padStart(2, '0')}:00Z,${(1 + ((i * 13) % 43) / 10).toFixed(1)}`,
  ).join('\n');
}
