// Follows charges to their end: asks the bank by id about those that a webhook names or whose day has passed, and
// tells business systems, once, of those that were withdrawn or ran out.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { parsePlainDate } from '../brazil/calendar.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import { getCharge } from '../contract/charges.js';
import { Database } from '../database.service.js';
import { eventAmount } from '../events/event-amount.js';
import { EventsService, type NewEvent } from '../events/events.service.js';
import { OnJob } from '../platform/job-methods.js';
import type { JobPayload } from '../queues.js';
import { BankTime } from '../statement/bank-time.service.js';
import * as queries from './charge-life.queries.js';
import { decideCharge, nextLook, readStatus } from './life.js';

const batch = 200;
const atOnce = 8;

@Injectable()
export class ChargeLife {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
    private readonly events: EventsService,
  ) {}

  /** Looks at every charge of the account whose time has come. */
  @OnJob('followCharges')
  async follow({ accountId }: JobPayload<'followCharges'>): Promise<void> {
    const account = await this.accounts.get(accountId);
    const db = this.database.prisma;
    const now = await this.bankTime.now(accountId);
    await queries.releasePaid(db, accountId, now);
    await queries.markNamed(db, accountId, now);
    for (;;) {
      const due = await queries.listDue(db, accountId, now, batch);
      for (let first = 0; first < due.length; first += atOnce)
        await Promise.all(
          due.slice(first, first + atOnce).map((charge) => this.look(account, charge, now)),
        );
      if (due.length < batch) break;
    }
    await this.events.announce(accountId);
  }

  /** The bank was asked to change it: how it stands now is read there. */
  async lookAgain(accountId: number, correlationId: string): Promise<void> {
    const now = await this.bankTime.now(accountId);
    await queries.markForLook(this.database.prisma, accountId, correlationId, now);
  }

  async listAccountsWithDue(): Promise<{ accountId: number }[]> {
    return queries.listAccountsWithDue(this.database.prisma);
  }

  private async look(account: BankAccount, charge: queries.DueCharge, now: Date): Promise<void> {
    const seen = await this.readAtBank(account, charge);
    const today = saoPauloDay(now);
    const outcome = seen && decideCharge(seen, today, charge.isPaid);
    const end: queries.End | null =
      outcome === 'cancelled' || outcome === 'expired' ? { kind: outcome, at: now } : null;
    const isOver = end !== null || outcome === 'paid';
    await this.database.transaction(async (tx) => {
      const isNews = await queries.recordLook(tx, account.id, {
        correlationId: charge.correlationId,
        lookedAt: charge.lookedAt,
        bankStatus: seen?.status ?? null,
        bankDueDate: seen?.bankDueDate ?? null,
        next: isOver ? null : nextLook(charge.looks + 1, now, seen?.dueDate ?? null, seen !== null),
        end,
      });
      if (isNews && end && !(end.kind === 'expired' && charge.isPaid))
        await this.events.record(tx, account.id, [
          reportEnd(charge, end.kind, seen?.dueDate ?? null),
        ]);
    });
  }

  /** Null when the bank did not say. A bank that cannot be asked by id is known by the due date alone. */
  private async readAtBank(account: BankAccount, { correlationId, dueDate }: queries.DueCharge) {
    if (!this.bank.profile.hasStatusById)
      return { word: readStatus(''), status: null, dueDate, bankDueDate: null };
    const answer = await this.bank.call(
      getCharge,
      account,
      { params: { correlationId } },
      { echoes: (told) => told.correlationId === correlationId },
    );
    if (answer.outcome !== 'success') return null;
    const { status, dueDate: told } = answer.value as { status: string; dueDate?: unknown };
    const bankDueDate = typeof told === 'string' ? parsePlainDate(told.slice(0, 10)) : null;
    return { word: readStatus(status), status, dueDate: bankDueDate ?? dueDate, bankDueDate };
  }
}

function reportEnd(
  { correlationId, type, amountCents }: queries.DueCharge,
  end: queries.End['kind'],
  dueDate: string | null,
): NewEvent {
  return {
    type: `charge.${end}`,
    data: {
      correlationId,
      chargeType: type,
      chargeAmount: amountCents === null ? null : eventAmount(amountCents),
      dueDate,
    },
  };
}
