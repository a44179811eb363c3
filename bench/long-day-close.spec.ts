// Measures the certification of one long day: its time and memory, and how long the sync and the
// decision of a payment take beside it. The same sync and decision before it are the yardstick.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { bankProfileOf } from '../src/bank/profiles.js';
import { DayCertifier } from '../src/day-closes/day-certifier.service.js';
import { DayClosing } from '../src/day-closes/day-closing.service.js';
import { EventsService } from '../src/events/events.service.js';
import { DecisionWriter } from '../src/reconciliation/apply.service.js';
import { Breaks } from '../src/reconciliation/breaks.service.js';
import { ReconciliationService } from '../src/reconciliation/reconciliation.service.js';
import { BankTime } from '../src/statement/bank-time.service.js';
import { recordLines } from '../src/statement/line-recording.queries.js';
import { parseStatementLine } from '../src/statement/statement-line.js';
import { serviceDatabase, type ServiceDatabase } from '../test/support/service-database.js';
import { alignColumns } from '../test/support/table.js';

const lines = Number(process.env.BENCH_DAY_LINES ?? 20_000);
const quietPayments = 200;
const pauseMs = 20;
const jobQueue = { enqueue: () => Promise.resolve() } as never;

/** A finished day of decided lines, which nobody has certified yet. */
async function storeDay({ database, accountId }: ServiceDatabase): Promise<void> {
  const run = (sql: string, ...values: unknown[]) => database.pool.query(sql, values);
  const step = 250_000;
  for (let first = 1; first <= lines; first += step) {
    const range = [first, Math.min(lines, first + step - 1)];
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       SELECT $1, n, 'line-' || n, true, 100, 'CREDIT_PIX', n * 100 - 100, n * 100,
              '2026-03-02T03:00:00Z'::timestamptz + n * interval '24 hours' / ($4::int + 1),
              encode(sha256(n::text::bytea), 'hex'), '{}'
       FROM generate_series($2::bigint, $3::bigint) n`,
      ...[accountId, ...range, lines],
    );
    await run(
      `INSERT INTO line_outcome (account_id, nsu, state, label, version, leaf_hash, sequence)
       SELECT $1, n, (CASE n % 10 WHEN 0 THEN 'classified' ELSE 'matched' END)::line_outcome_state,
              CASE n % 10 WHEN 0 THEN 'fee' END, 1, sha256(n::text::bytea), n / 1000
       FROM generate_series($2::bigint, $3::bigint) n`,
      ...[accountId, ...range],
    );
    process.stdout.write(`${range[1]} lines stored\n`);
  }
  await run(
    `INSERT INTO reconciliation_state (account_id, decided_arrival, outcome_sequence)
     SELECT $1, max(arrival), $2 FROM statement_line`,
    ...[accountId, lines],
  );
  await run(
    `INSERT INTO statement_state (account_id, is_anchored, line_count, last_nsu, closed_from,
       closed_until, last_sync_started_at)
     VALUES ($1, true, $2, $2, '2026-03-01T03:00:00Z', '2026-03-03T03:00:00Z', now())`,
    ...[accountId, lines],
  );
  await run('VACUUM ANALYZE');
}

function servicesOn({ database }: ServiceDatabase) {
  const events = new EventsService(database, jobQueue);
  const breaks = new Breaks(events);
  const bank = { profile: bankProfileOf({ profile: 'sandbox' }) } as never;
  const writer = new DecisionWriter(events, breaks);
  const reconciliation = new ReconciliationService(
    ...([database, bank, writer, breaks, events, jobQueue] as const),
  );
  const certifier = new DayCertifier(database, events, breaks);
  const closing = new DayClosing(database, new BankTime(database), breaks, certifier, events);
  return { reconciliation, closing };
}

/** Syncs and decides payments of the next day one after another; the milliseconds of each. */
function paymentsOn(service: ServiceDatabase) {
  const { database, accountId } = service;
  const { reconciliation } = servicesOn(service);
  let nsu = lines;
  const settleOne = async () => {
    nsu += 1;
    const startedAt = performance.now();
    await database.transaction(async (tx) => {
      await tx.statementState.update({ where: { accountId }, data: { syncs: { increment: 1 } } });
      await recordLines(tx, accountId, [parseStatementLine(lineOf(nsu))]);
    });
    const syncedAt = performance.now();
    await reconciliation.reconcile({ accountId });
    return { sync: syncedAt - startedAt, decision: performance.now() - syncedAt };
  };
  return async (isEnough: (count: number) => boolean) => {
    const times = { sync: [] as number[], decision: [] as number[] };
    while (!isEnough(times.sync.length)) {
      const { sync, decision } = await settleOne();
      times.sync.push(sync);
      times.decision.push(decision);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return times;
  };
}

function lineOf(nsu: number) {
  return {
    id: `line-${nsu}`,
    nsu: new LosslessNumber(`${nsu}`),
    amount: new LosslessNumber('1.00'),
    createdAt: '2026-03-03T12:00:00Z',
    type: { name: 'CREDIT_PIX', isCredit: true },
    balance: {
      balancePrevious: new LosslessNumber(`${nsu - 1}.00`),
      currentBalance: new LosslessNumber(`${nsu}.00`),
    },
  };
}

/** The growth of the heap with buffers, and of the process, while `work` runs; in MiB. */
async function measureMemory<Result>(work: () => Promise<Result>) {
  const read = () => {
    const { heapUsed, external, rss } = process.memoryUsage();
    return { heap: heapUsed + external, rss };
  };
  global.gc?.();
  const before = read();
  const peak = { ...before };
  const sample = setInterval(() => {
    const now = read();
    peak.heap = Math.max(peak.heap, now.heap);
    peak.rss = Math.max(peak.rss, now.rss);
  }, 5);
  const result = await work().finally(() => clearInterval(sample));
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  return {
    result,
    heap: mebibytes(peak.heap - before.heap),
    rss: mebibytes(peak.rss - before.rss),
  };
}

const milliseconds = (ms: number | undefined) => (ms ?? 0).toFixed(1);
function describeTimes(name: string, times: number[]): string[] {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)];
  return [name, `${sorted.length}`, ...[at(0.5), at(0.99), at(1)].map(milliseconds)];
}

it('measures the certification of a long day beside payments', async () => {
  const service = await serviceDatabase();
  const { database, accountId } = service;
  try {
    await storeDay(service);
    const settle = paymentsOn(service);
    await settle((count) => count === 20);
    const quiet = await settle((count) => count === quietPayments);
    const { closing } = servicesOn(service);
    const loop = monitorEventLoopDelay({ resolution: 1 });
    let isClosed = false;
    loop.enable();
    const startedAt = performance.now();
    const { result: beside, ...memory } = await measureMemory(async () => {
      const account = { id: accountId, goLiveAt: new Date('2026-03-02T03:00:00Z') };
      const closes = closing.close(account).finally(() => (isClosed = true));
      const times = await settle(() => isClosed);
      await closes;
      return times;
    });
    loop.disable();
    const seconds = (performance.now() - startedAt) / 1_000;
    const [close] = await database.prisma.dayClose.findMany({ where: { accountId } });
    if (close?.lineCount !== lines) throw new Error('the day is not certified');
    const table = [
      ['', 'payments', 'p50 ms', 'p99 ms', 'max ms'],
      describeTimes('sync, quiet', quiet.sync),
      describeTimes('sync beside', beside.sync),
      describeTimes('decision, quiet', quiet.decision),
      describeTimes('decision beside', beside.decision),
    ];
    process.stdout.write(
      `\n${lines} lines certified in ${seconds.toFixed(1)} s; at most ${memory.heap} MiB more ` +
        `heap, ${memory.rss} MiB more resident, and the event loop waited for at most ` +
        `${milliseconds(loop.max / 1e6)} ms\n${alignColumns(table).join('\n')}\n\n`,
    );
  } finally {
    await service.drop();
  }
}, 14_400_000);
