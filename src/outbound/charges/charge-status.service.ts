// Checks the status of charges that a webhook references or whose due date has passed. The status
// is read by id if the bank offers it. An event reports each cancelled or expired charge once.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { parsePlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { getCharge } from '../../bank-contract/charges.js';
import { Database } from '../../platform/postgres/database.service.js';
import { eventAmount, type NewEvent } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { readCreditDays } from '../../statement/expected-payments/credit-days.queries.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import * as queries from './charge-status.queries.js';
import {
  classifyBankStatus,
  decideChargeStatus,
  nextStatusCheckAt,
  unansweredChecks,
} from './charge-status.js';

const batchSize = 200;
const concurrentChecks = 8;

@Injectable()
export class ChargeStatusChecks {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
    private readonly events: EventsService,
    @InjectQueue(jobs.checkChargeStatuses.name)
    private readonly checkChargeStatusesQueue: JobQueue<'checkChargeStatuses'>,
  ) {}

  /** Checks every charge of the account that is due. */
  async checkDueCharges({ accountId }: JobPayload<'checkChargeStatuses'>): Promise<void> {
    const account = await this.accounts.get(accountId);
    const db = this.database.prisma;
    const now = await this.bankTime.now(accountId);
    await queries.endChecksOfPaidCharges(db, accountId, now);
    await queries.requestChecksByWebhooks(db, accountId, now);
    for (;;) {
      const due = await queries.listDueCharges(db, accountId, now, batchSize);
      for (let first = 0; first < due.length; first += concurrentChecks)
        await Promise.all(
          due
            .slice(first, first + concurrentChecks)
            .map((charge) => this.check(account, charge, now)),
        );
      if (due.length < batchSize) break;
    }
    await this.events.enqueueDeliveries(accountId);
  }

  /** Makes the charge due for a check now, for example after a request to expire it. */
  async requestStatusCheck(accountId: number, correlationId: string): Promise<void> {
    const now = await this.bankTime.now(accountId);
    await this.database.prisma.charge.updateMany({
      where: { accountId, correlationId, cancelledAt: null },
      data: { nextCheckAt: now, checks: 0 },
    });
  }

  /** Enqueues a check for each account with a due charge. */
  @Every('charges', 2)
  async enqueueDue(): Promise<void> {
    for (const account of await queries.listAccountsWithDueCharges(this.database.prisma))
      await this.checkChargeStatusesQueue.enqueue(account);
  }

  private async check(account: BankAccount, charge: queries.DueCharge, now: Date): Promise<void> {
    const atBank = await this.readAtBank(account, charge);
    const dueDate = atBank?.dueDate ?? null;
    const status = atBank && decideChargeStatus(atBank, saoPauloDay(now), charge.isPaid);
    const end: queries.ChargeEnd | null =
      status === 'cancelled' || status === 'expired' ? { kind: status, at: now } : null;
    const isFinal = end !== null || status === 'paid';
    await this.database.transaction(async (tx) => {
      const isNewEnd = await queries.recordChargeStatusCheck(tx, account.id, {
        correlationId: charge.correlationId,
        checkedAt: charge.checkedAt,
        knownDueDate: charge.dueDate,
        bankStatus: atBank?.bankStatus ?? null,
        bankDueDate: atBank?.bankDueDate ?? null,
        nextCheckAt: isFinal
          ? null
          : nextStatusCheckAt(charge.checks + 1, now, dueDate, {
              isAnswered: atBank !== null,
              creditDays: atBank?.creditDays ?? 0,
            }),
        end,
      });
      if (isNewEnd && end && !(end.kind === 'expired' && charge.isPaid))
        this.events.record(tx, account.id, [chargeEndEvent(charge, end.kind, dueDate)]);
    });
  }

  /**
   * Null when the bank did not return the charge's status. If the bank offers no status by id, or
   * has not returned it for long, only the due date is known.
   */
  private async readAtBank(account: BankAccount, due: queries.DueCharge) {
    const { correlationId, dueDate, checks } = due;
    const unread = { status: classifyBankStatus(''), bankStatus: null };
    const { slip: creditDays } = await readCreditDays(
      this.database.prisma,
      account.id,
      this.bank.profile.creditDays,
    );
    const byDueDate = { ...unread, dueDate, bankDueDate: null, creditDays };
    if (!this.bank.profile.hasStatusById) return byDueDate;
    const response = await this.bank.call(
      getCharge,
      account,
      { params: { correlationId } },
      { echoes: (charge) => charge.correlationId === correlationId },
    );
    if (response.outcome !== 'success') return checks + 1 < unansweredChecks ? null : byDueDate;
    const { status, dueDate: day } = response.value;
    const bankDueDate = day == null ? null : parsePlainDate(day.slice(0, 10));
    return {
      status: classifyBankStatus(status ?? ''),
      bankStatus: status ?? null,
      dueDate: bankDueDate ?? dueDate,
      bankDueDate,
      creditDays: 0,
    };
  }
}

type EndedCharge = Pick<queries.DueCharge, 'correlationId' | 'type' | 'amountCents' | 'metadata'>;

/** The event of a charge that has ended without a payment. */
export function chargeEndEvent(
  { correlationId, type, amountCents, metadata }: EndedCharge,
  end: queries.ChargeEnd['kind'],
  dueDate: string | null,
): NewEvent {
  return {
    type: `charge.${end}`,
    resource: { kind: 'charge', id: correlationId },
    data: {
      correlationId,
      chargeType: type,
      chargeAmount: amountCents === null ? null : eventAmount(amountCents),
      dueDate,
      ...(metadata ? { metadata } : {}),
    },
  };
}
