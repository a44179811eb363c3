// Generates statement lines for load tests, in batches. A batch is one database transaction that
// locks the account for about a second, so that live traffic continues between batches. The lines
// obey every rule of the ledger.
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { AppError, ruleBroken } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { allocateIds, type LockedAccount } from '../ledger/ledger.queries.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase, SandboxSettings, type SandboxTx } from '../sandbox-database.service.js';
import { ResetGate } from '../control/reset-gate.service.js';
import { analyzeGenerated, findLastLineTime, insertLines } from './generate.queries.js';
import type { generateLines } from './generate.schema.js';
import { LinePlan } from './line-plan.js';
import { plannedRows, type PlannedRows } from './planned-rows.js';
import type { PlannedLine } from './planned-line.js';

const batchLines = 10_000;
/** Lines that are planned and written together. A chunk is in memory and blocks the event loop. */
const chunkLines = 500;
const dayMs = 86_400_000;
const progressMs = 5_000;
const defaultDays = 30;

interface GenerationRun {
  account: SandboxAccount;
  pixKey: string;
  seed: number;
  count: number;
  /** The longest time between the first line and now. */
  spanMs: number;
  /** The number of written lines, in total and of each type. */
  done: number;
  counts: Record<string, number>;
  /** The time from which lines are spread; null before the first batch. */
  from: Date | null;
  until: Date;
}

@Injectable()
export class LineGenerator implements BeforeApplicationShutdown {
  private isStopped = false;

  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly ledger: SandboxLedger,
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly resetGate: ResetGate,
    private readonly settings: SandboxSettings,
  ) {}

  beforeApplicationShutdown(): void {
    this.isStopped = true;
  }

  /** Returns the count of lines of each type. Written batches stay when a later one fails. */
  async generate(
    caller: SandboxAccount,
    { account: number, count, seed, days }: RouteInput<typeof generateLines>['body'],
  ): Promise<Record<string, number>> {
    const account = await this.accounts.getNamed(number, caller);
    const run: GenerationRun = {
      account,
      pixKey: await this.accounts.getDefaultPixKey(account),
      seed: seed ?? 1,
      count,
      spanMs: (days ?? defaultDays) * dayMs,
      done: 0,
      counts: {},
      from: null,
      until: this.clock.now(),
    };
    let loggedAt = performance.now();
    while (run.done < count) {
      if (this.isStopped || this.resetGate.isClosing)
        throw new AppError('not_ready', { public: 'The bank is shutting down or being reset.' });
      await this.database.transaction((tx) => this.writeBatch(tx, run));
      if (performance.now() - loggedAt < progressMs) continue;
      loggedAt = performance.now();
      this.settings.log.info(
        { account: account.number, done: run.done, count },
        'generating lines',
      );
    }
    await analyzeGenerated(this.database);
    return run.counts;
  }

  private async writeBatch(tx: SandboxTx, run: GenerationRun): Promise<void> {
    const { account } = run;
    const end = (await this.ledger.lock(tx, [account])).get(account.id)!;
    const size = Math.min(batchLines, run.count - run.done);
    const chargeIds = (await allocateIds(tx, 'charge', size)).values();
    const plan = new LinePlan({
      // No other batch of the account begins at this nsu, so that no two batches create equal ids.
      seed: `${run.seed}/${account.number}/${end.lastNsu}`,
      account,
      pixKey: run.pixKey,
      balanceCents: end.balanceCents,
      blockedCents: end.blockedCents,
      nextChargeId: () => chargeIds.next().value!,
      timeOf: await this.timesOf(tx, run),
    });
    const counts = { ...run.counts };
    const modes = this.modes.current;
    const movementIds = await allocateIds(tx, 'movement', size);
    const rowsFrom = (first: number): PlannedRows => {
      const ids = movementIds.slice(first, first + chunkLines);
      const lines = planLines(plan, run.done + first, ids.length);
      for (const { typeName } of lines) counts[typeName] = (counts[typeName] ?? 0) + 1;
      return plannedRows(lines, ids, end, modes);
    };
    let rows = rowsFrom(0);
    for (let first = 0; first < size; first += chunkLines) {
      const writing = insertRows(tx, rows);
      try {
        // The next chunk is planned while the database writes; both take about as long.
        if (first + chunkLines < size) rows = rowsFrom(first + chunkLines);
      } finally {
        // No write may still run when the database transaction ends.
        await writing;
      }
    }
    const { balanceCents, lastNsu, tailNsu, skippedNsu } = end;
    const chainEnd = { balanceCents, lastNsu, tailNsu, skippedNsu };
    await tx.update<LockedAccount>('account', { id: account.id }, chainEnd);
    tx.afterCommit(() => {
      run.counts = counts;
      run.done += size;
    });
  }

  /**
   * Times that rise evenly to now, from `spanMs` before now or from the account's last line. No
   * time is before the time of a line that was posted between two batches.
   */
  private async timesOf(tx: SandboxTx, run: GenerationRun): Promise<(position: number) => Date> {
    const lastMs = (await findLastLineTime(tx, run.account.id))?.getTime() ?? 0;
    const untilMs = run.until.getTime();
    run.from ??= new Date(Math.max(untilMs - run.spanMs, Math.min(lastMs, untilMs)));
    const fromMs = run.from.getTime();
    const stepMs = (untilMs - fromMs) / run.count;
    return (position) => new Date(Math.max(lastMs, Math.floor(fromMs + position * stepMs)));
  }
}

async function insertRows(tx: SandboxTx, { lines, charges, transfers }: PlannedRows) {
  await insertLines(tx, lines);
  await tx.insertAll('charge', charges);
  await tx.insertAll('transfer', transfers);
}

function planLines(plan: LinePlan, position: number, length: number): PlannedLine[] {
  try {
    return Array.from({ length }, (_, index) => plan.next(position + index));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const text = 'The account has no available balance and is at its balance limit.';
    throw ruleBroken('balance_limit', text, cause);
  }
}
