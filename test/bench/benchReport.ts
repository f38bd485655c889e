/** What a benchmark has measured. */
export interface BenchTable {
  readonly rows: readonly unknown[];
  /** `yardstick()` just before it and just after. */
  readonly yardstick: readonly [before: number, after: number];
}

/** Where and with what a table was measured. */
export interface BenchFacts {
  /** ISO date. */
  readonly date: string;
  /** Names and versions, as they are shown. */
  readonly versions: readonly string[];
}

const introduction = `# Benchmarks

Written by \`npm run bench\` (\`npm run bench:store\`, \`npm run bench:context\` for parts; \`npm run bench:week\`, \`npm run bench:years\` and \`npm run bench:everywhere\` only by name). Times depend on the machine and on what else it does;
ratios are taken within one run and are what to compare. Each table says when and with what it was measured, and how long a fixed piece of work
(\`test/support/yardstick.ts\`) took just before it and just after: times of two tables compare only as far as these do.
\`LOCOMO_FILE=…/locomo10.json npm run bench:context\` adds the public LoCoMo conversations to the table on recall.
`;

/** The page with these tables in the place of older ones of the same name; the others stay as they are. */
export function benchReport(page: string, results: Readonly<Record<string, BenchTable>>, facts: BenchFacts): string {
  const sections = new Map([...page.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].map(([, name, body]) => [name!, body!.trim()]));
  for (const [name, { rows, yardstick }] of Object.entries(results)) {
    const measured = `${facts.date}, ${facts.versions.join(', ')}, yardstick ${yardstick.map((ms) => ms.toFixed(0)).join(' and ')} ms`;
    sections.set(name, [measured, table(rows), ...notesOf(rows)].join('\n\n'));
  }
  return [introduction, ...[...sections].sort(([a], [b]) => a.localeCompare(b)).map(([name, body]) => `## ${name}\n\n${body}\n`)].join(
    '\n',
  );
}

/** What rows say in their field `note`: below the table, because it explains more than one of them. */
export function notesOf(rows: readonly unknown[]): string[] {
  return rows.flatMap((row) =>
    typeof row === 'object' && row !== null && 'note' in row && typeof row.note === 'string' ? [row.note] : [],
  );
}

export function withoutNote(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'note'));
}

/** Columns in the order in which the rows name them, those with a ratio after the name of the row. */
function table(rows: readonly unknown[]): string {
  const records = rows
    .map(withoutNote)
    .map((row) => (typeof row === 'object' && row !== null ? (row as Record<string, unknown>) : { result: row }));
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const [first = 'result', ...rest] = names;
  const isRatio = (name: string) => /ratio|share|×|:/i.test(name);
  const columns = [first, ...rest.filter(isRatio), ...rest.filter((name) => !isRatio(name))];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...records.map((record) => line(columns.map((name) => cell(record[name]))))].join(
    '\n',
  );
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
  return (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('|', '\\|').replaceAll('\n', ' ');
}
