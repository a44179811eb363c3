// Fills a statement for tests at size: batch after batch, each a transaction that holds the account for a second or
// so, so that live traffic goes on between them. What it writes is under every rule of the ledger.
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import { AppError } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { BankAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase, SandboxSettings, type Tx } from '../sandbox-database.service.js';
import { ResetGate } from '../control/reset-gate.service.js';
import { findLastLineTime, insertRows, keepEnd, takeIds } from './generate.queries.js';
import type { generateLines } from './generate.schema.js';
import { Plan } from './plan.js';
import { rowsOf, type PlannedRows } from './planned-rows.js';
import type { PlannedLine } from './planned-line.js';

const batchLines = 10_000;
/** Planned and written in one go: what blocks the event loop, and stands in memory. */
const chunkLines = 500;
const dayMs = 86_400_000;
const progressMs = 5_000;
const defaultDays = 30;

interface Load {
  account: BankAccount;
  pixKey: string;
  seed: number;
  count: number;
  /** How long before now the first line may be. */
  spanMs: number;
  /** How many lines are written, and how many of each type. */
  done: number;
  counts: Record<string, number>;
  /** The time before which the next batch has no line; the first batch finds it. */
  from: Date | null;
  until: Date;
}

@Injectable()
export class Generate implements BeforeApplicationShutdown {
  private isStopped = false;

  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly ledger: SandboxLedger,
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly door: ResetGate,
    private readonly settings: SandboxSettings,
  ) {}

  beforeApplicationShutdown(): void {
    this.isStopped = true;
  }

  /** How many lines of each type were written. What is written stays when a later batch fails. */
  async generate(
    caller: BankAccount,
    { account: number, count, seed, days }: RouteInput<typeof generateLines>['body'],
  ): Promise<Record<string, number>> {
    const account = number ? await this.accounts.getByNumber(number) : caller;
    const load: Load = {
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
    let receivedAtBankTime = performance.now();
    while (load.done < count) {
      if (this.isStopped || this.door.isClosing)
        throw new AppError('not_ready', { public: 'The bank is closing, or begins anew.' });
      await this.database.transaction((tx) => this.writeBatch(tx, load));
      if (performance.now() - receivedAtBankTime < progressMs) continue;
      receivedAtBankTime = performance.now();
      this.settings.log.info({ account: account.number, done: load.done, count }, 'generating');
    }
    return load.counts;
  }

  private async writeBatch(tx: Tx, load: Load): Promise<void> {
    const { account } = load;
    const end = (await this.ledger.lock(tx, [account])).get(account.id)!;
    const size = Math.min(batchLines, load.count - load.done);
    const chargeIds = (await takeIds(tx, 'charge', size)).values();
    const plan = new Plan({
      // No other batch of any account begins at this nsu, so that no two give out the same ids.
      seed: `${load.seed}/${account.number}/${end.lastNsu}`,
      account,
      pixKey: load.pixKey,
      balanceCents: end.balanceCents,
      blockedCents: end.blockedCents,
      takeChargeId: () => chargeIds.next().value!,
      timeOf: await this.timesOf(tx, load),
    });
    const counts = { ...load.counts };
    const { balanceOrder, lineOriginalId } = this.modes.current;
    const movementIds = await takeIds(tx, 'movement', size);
    const rowsFrom = (first: number): PlannedRows => {
      const ids = movementIds.slice(first, first + chunkLines);
      const lines = planLines(plan, load.done + first, ids.length);
      for (const { typeName } of lines) counts[typeName] = (counts[typeName] ?? 0) + 1;
      return rowsOf(lines, ids, end, balanceOrder);
    };
    let rows = rowsFrom(0);
    for (let first = 0; first < size; first += chunkLines) {
      const writing = insertRows(tx, account.id, rows, lineOriginalId === 'absent');
      try {
        // Planned while the database writes: each takes about as long as the other.
        if (first + chunkLines < size) rows = rowsFrom(first + chunkLines);
      } finally {
        // Nothing may be written behind a transaction that has ended.
        await writing;
      }
    }
    await keepEnd(tx, account.id, end);
    tx.afterCommit(() => {
      load.counts = counts;
      load.done += size;
    });
  }

  /**
   * Times that ascend evenly from the days before now, or from the account's last line, to now; behind a line that
   * came in between two batches.
   */
  private async timesOf(tx: Tx, load: Load): Promise<(place: number) => Date> {
    const lastMs = (await findLastLineTime(tx, load.account.id))?.getTime() ?? 0;
    const untilMs = load.until.getTime();
    load.from ??= new Date(Math.max(untilMs - load.spanMs, Math.min(lastMs, untilMs)));
    const fromMs = load.from.getTime();
    const stepMs = (untilMs - fromMs) / load.count;
    return (place) => new Date(Math.max(lastMs, Math.floor(fromMs + place * stepMs)));
  }
}

function planLines(plan: Plan, place: number, length: number): PlannedLine[] {
  try {
    return Array.from({ length }, (_, index) => plan.next(place + index));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new AppError('rule_broken', {
      public: 'The account can neither give nor take a cent.',
      reason: 'balance_limit',
      cause,
    });
  }
}
