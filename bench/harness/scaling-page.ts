// What `npm run bench -- disk --publish` writes: docs/performance/disk.json, and the part of
// docs/explanation/scaling.md that follows from it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBetweenMarks } from './report.js';
import type { AccountReach } from './statement-reach.js';

export interface TableSize {
  table: string;
  rows: number;
  /** Bytes. */
  heap: number;
  indexes: number;
  toast: number;
}

export interface DiskResult {
  date: string;
  machine: string;
  lines: number;
  /** What the second half of the lines added, of what the first half did. */
  growthOfSecondHalf: number;
  /** The size of all before the last VACUUM FULL, of that after it. */
  beforeVacuum: number;
  /** Of 10⁶ lines, the largest first. */
  tables: TableSize[];
  statements: { reach: AccountReach; modules: string[]; text: string }[];
}

type Published = Omit<DiskResult, 'statements'> & {
  reach: Partial<Record<AccountReach, number>>;
  /** How many statements of each module read rows of an account beside those of another one. */
  across: Record<string, number>;
};

const publishedPath = (project: string) => join(project, 'docs/performance/disk.json');

export function writeScaling(project: string, { statements, ...result }: DiskResult): void {
  if (Math.abs(result.growthOfSecondHalf - 1) > 0.1)
    throw new Error('the size does not grow with the lines: measure more of them');
  const reach: Published['reach'] = {};
  const across: Published['across'] = {};
  for (const { reach: of, modules } of statements) {
    reach[of] = (reach[of] ?? 0) + 1;
    const joined = modules.join(' with ');
    if (of === 'across') across[joined] = (across[joined] ?? 0) + 1;
  }
  const published: Published = { ...result, reach, across };
  writeFileSync(publishedPath(project), `${JSON.stringify(published, null, 2)}\n`);
  writeBetweenMarks(join(project, 'docs/explanation/scaling.md'), 'disk', scalingText(project));
}

export function scalingText(project: string): string {
  const { lines, reach, across, ...result } = JSON.parse(
    readFileSync(publishedPath(project), 'utf8'),
  ) as Published;
  // The queue deletes what is older than its last events: its tables do not grow with the lines.
  const tables = result.tables.filter(({ table }) => !table.startsWith('bullmq.'));
  const megabytes = (bytes: number) => Math.round(bytes / 1_000_000).toLocaleString('en');
  const total = (of: (size: TableSize) => number) =>
    megabytes(tables.reduce((sum, size) => sum + of(size), 0));
  const bytesOf = ({ heap, indexes, toast }: TableSize) => heap + indexes + toast;
  const largest = tables
    .slice(0, 8)
    .map((size) => `\`${size.table}\` ${megabytes(bytesOf(size))}`)
    .join(', ');
  const joined = Object.entries(across).map(([modules, count]) => `${modules} ${count}`);
  return [
    'A month of 10⁶ matched lines, each with a charge, two webhooks, an event and its delivery, ',
    `in MB after VACUUM FULL: ${largest}; all ${total(bytesOf)}, of which indexes `,
    `${total(({ indexes }) => indexes)}. Measured with ${lines.toLocaleString('en')} lines.\n\n`,
    `Statements of given accounts: ${reach.given ?? 0}; of every account, each apart: `,
    `${reach.each ?? 0}; that join accounts: ${joined.join('; ') || 'none'}; unknown: `,
    `${reach.unknown ?? 0}.`,
  ].join('');
}
