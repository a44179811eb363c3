// A bank with a long statement of one day. Its pages are computed when they are requested, so its
// memory does not grow with the statement.
import { setImmediate } from 'node:timers/promises';
import { LosslessNumber } from 'lossless-json';
import type { BankResponse } from '../../src/bank/response-classification.js';
import { bankProfileOf } from '../../src/bank/profiles.js';
import { StatementClosing } from '../../src/statement/lines/statement-closing.service.js';
import { StatementSync } from '../../src/statement/lines/statement-sync.service.js';
import type { Database } from '../../src/platform/postgres/database.service.js';
import { pino } from 'pino';
import { lineQueues, recordedQueues } from './recorded-queues.js';

const dayStart = Date.parse('2026-11-21T03:00:00.000Z');
const dayMs = 86_400_000;

export class ComputedBank {
  readonly profile = { ...bankProfileOf({ profile: 'sandbox' }) };
  order: 'desc' | 'asc' = 'desc';
  pagesRead = 0;
  clock = () => new Date(dayStart + dayMs + 3_600_000);
  /** Called before each page. */
  beforePage: (page: number, limit: number) => void | Promise<void> = () => undefined;

  constructor(
    public lines: number,
    pageSize = 100,
  ) {
    this.profile.statementPageSize = pageSize;
  }

  call = async (
    _route: unknown,
    _account: unknown,
    { query }: { query?: { page?: number; limit?: number } },
  ): Promise<BankResponse<unknown[]>> => {
    const { page = 1, limit = 10 } = query ?? {};
    // As with a response over the network, timers run meanwhile.
    await setImmediate();
    await this.beforePage(page, limit);
    this.pagesRead += 1;
    const count = Math.max(0, Math.min(limit, this.lines - (page - 1) * limit));
    const value = Array.from({ length: count }, (_, index) => {
      const position = (page - 1) * limit + index;
      return this.line(this.order === 'desc' ? this.lines - position : position + 1);
    });
    return { outcome: 'success', status: 200, text: '', value, date: this.clock() };
  };

  /** The time of a line: the lines are spread evenly over the day. */
  timeOf(nsu: number): Date {
    return new Date(dayStart + Math.floor((nsu * dayMs) / (this.lines + 1)));
  }

  private line(nsu: number) {
    return {
      id: `line-${nsu}`,
      nsu: new LosslessNumber(String(nsu)),
      amount: new LosslessNumber('1.00'),
      createdAt: this.timeOf(nsu).toISOString(),
      type: { name: 'CREDIT_PIX', isCredit: true },
      balance: {
        balancePrevious: new LosslessNumber(`${nsu - 1}.00`),
        currentBalance: new LosslessNumber(`${nsu}.00`),
      },
    };
  }

  /** The services that read this bank. */
  services(database: Database, enqueued: string[] = []) {
    const accounts = { get: (id: number) => Promise.resolve({ id, slug: 'main' }) } as never;
    const queueOf = recordedQueues((job) => enqueued.push(job));
    const bank = this as never;
    const log = pino({ level: 'silent' });
    const statement = new StatementSync(
      database,
      bank,
      ...lineQueues((job) => enqueued.push(job)),
      log,
    );
    const closing = new StatementClosing(
      database,
      accounts,
      bank,
      statement,
      queueOf('closeStatement'),
      queueOf('syncStatement'),
      queueOf('reconcile'),
      log,
    );
    return { statement, closing };
  }
}
