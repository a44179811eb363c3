// Measures the first import of a long history: that it anchors and ends, and that no transaction
// grows with the history. The beginning of the history is stored by SQL, the rest is synced.
import { it } from '@jest/globals';
import { Database } from '../src/database.service.js';
import { ComputedBank } from '../test/support/computed-bank.js';
import { serviceDatabase } from '../test/support/service-database.js';
import { alignColumns } from '../test/support/table.js';

const lines = Number(process.env.BENCH_HISTORY_LINES ?? 20_000);
const stored = Number(process.env.BENCH_HISTORY_STORED ?? 0);
const reports = 10;
const sliceMs = 10_000;

interface Longest {
  page: number;
  other: number;
}

/** Measures the longest transactions since the last report. */
function measureTransactions(database: Database): () => Longest {
  let longest = { page: 0, other: 0 };
  const transaction = database.transaction.bind(database);
  database.transaction = async (work) => {
    const startedAt = performance.now();
    const isPage = work.toString().includes('recordLines');
    try {
      return await transaction(work);
    } finally {
      const ms = performance.now() - startedAt;
      if (isPage) longest.page = Math.max(longest.page, ms);
      else longest.other = Math.max(longest.other, ms);
    }
  };
  return () => {
    const last = longest;
    longest = { page: 0, other: 0 };
    return last;
  };
}

async function storeLines(database: Database, accountId: number, bank: ComputedBank) {
  const step = 500_000;
  for (let first = 1; first <= stored; first += step)
    await database.pool.query(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       SELECT $1, nsu, 'line-' || nsu, true, 100, 'CREDIT_PIX', nsu * 100 - 100, nsu * 100,
              $4::timestamptz, encode(sha256(nsu::text::bytea), 'hex'), '{}'
       FROM generate_series($2::bigint, $3::bigint) nsu`,
      [accountId, first, Math.min(stored, first + step - 1), bank.timeOf(1)],
    );
  if (stored > 0)
    await database.pool.query(
      `INSERT INTO statement_state (account_id, line_count, first_gap_nsu, page_order, page_lines)
       VALUES ($1, $2, 1, 'asc', $3)`,
      [accountId, stored, bank.profile.statementPageSize],
    );
}

it('measures the first import of a long history', async () => {
  const service = await serviceDatabase();
  const { database, accountId } = service;
  const bank = new ComputedBank(lines, 500);
  bank.order = stored > 0 ? 'asc' : 'desc';
  const { statement } = bank.services(database);
  const table = [['lines', 'lines/s', 'page ms', 'chain ms', 'heap MiB', 'rss MiB', 'state']];
  try {
    await storeLines(database, accountId, bank);
    const longestOf = measureTransactions(database);
    let reported = { lines: stored, at: performance.now() };
    for (let isAnchored = false; !isAnchored;) {
      await statement.sync(accountId, { sliceMs });
      const state = await database.prisma.statementState.findUniqueOrThrow({
        where: { accountId },
      });
      isAnchored = state.isAnchored;
      const count = Number(state.lineCount);
      const isDue = count - reported.lines >= (lines - stored) / reports || count === lines;
      if (!isDue && !isAnchored) continue;
      const seconds = (performance.now() - reported.at) / 1_000;
      const { page, other } = longestOf();
      const memory = process.memoryUsage();
      const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
      const from = state.firstGapNsu === null ? 'complete' : `unchecked from ${state.firstGapNsu}`;
      table.push([
        ...[count, Math.round((count - reported.lines) / seconds)].map(String),
        ...[Math.round(page), Math.round(other)].map(String),
        ...[mebibytes(memory.heapUsed), mebibytes(memory.rss)].map(String),
        `${isAnchored ? 'anchored' : 'importing'}, ${from}`,
      ]);
      process.stdout.write(`${table.at(-1)?.join('  ')}\n`);
      reported = { lines: count, at: performance.now() };
    }
    process.stdout.write(`\n${alignColumns(table).join('\n')}\n\n`);
  } finally {
    await service.drop();
  }
}, 14_400_000);
