import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProgramId } from '../../../src/core/transfer/programs';

const at = '2026-09-01T10:00:00.000Z';

/** Three programs that write sessions of their own while one works. */
const kinds: readonly {
  readonly program: ProgramId;
  readonly path: (name: string) => string;
  readonly header: (name: string) => object;
  readonly line: (name: string, text: string, n: number) => object;
}[] = [
  {
    program: 'codex',
    path: (name) => `.codex/sessions/2026/09/01/rollout-${name}.jsonl`,
    header: (name) => ({ timestamp: at, type: 'session_meta', payload: { id: name, cwd: '/w' } }),
    line: (_, text) => ({
      timestamp: at,
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    }),
  },
  {
    program: 'claude-code',
    path: (name) => `.claude/projects/-w/${name}.jsonl`,
    header: (name) => ({
      uuid: `h-${name}`,
      parentUuid: null,
      sessionId: name,
      timestamp: at,
      cwd: '/w',
      type: 'system',
      subtype: 'begun',
    }),
    line: (name, text, n) => ({
      uuid: `u-${name}-${n}`,
      parentUuid: n === 0 ? `h-${name}` : `u-${name}-${n - 1}`,
      sessionId: name,
      timestamp: at,
      cwd: '/w',
      type: 'user',
      message: { role: 'user', content: text },
    }),
  },
  {
    program: 'gemini',
    path: (name) => `.gemini/tmp/w/chats/session-${name}.jsonl`,
    header: (name) => ({ sessionId: name, projectHash: 'h', startTime: at, kind: 'main' }),
    line: (_, text, n) => ({ id: `g${n}`, timestamp: at, type: 'user', content: text }),
  },
];

export const watchedPrograms: readonly ProgramId[] = kinds.map(({ program }) => program);

/** Appends to their files, sometimes half a line first. */
export class AgentFiles {
  readonly said: string[] = [];
  private readonly lines = new Map<string, number>();

  constructor(
    private readonly home: string,
    private readonly random: () => number,
  ) {
    for (const folder of ['.codex/sessions', '.claude/projects', '.gemini/tmp']) mkdirSync(join(home, folder), { recursive: true });
  }

  write(): void {
    const { path, header, line, program } = kinds[Math.floor(this.random() * kinds.length)]!;
    const name = `${program}-${Math.floor(this.random() * 4)}`;
    const file = join(this.home, path(name));
    mkdirSync(dirname(file), { recursive: true });
    if (!existsSync(file)) appendFileSync(file, `${JSON.stringify(header(name))}\n`);
    const n = this.lines.get(name) ?? 0;
    this.lines.set(name, n + 1);
    const text = `agent-${this.said.length}- said by ${program}`;
    this.said.push(text);
    const written = `${JSON.stringify(line(name, text, n))}\n`;
    const cut = Math.floor(written.length * this.random());
    appendFileSync(file, written.slice(0, cut));
    appendFileSync(file, written.slice(cut));
  }
}
