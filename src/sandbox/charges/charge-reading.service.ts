// Tells charges as they stand now, with what was paid for them.
import { Injectable } from '@nestjs/common';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { ChargeDetails, ChargesQuery } from '../../contract/charges.js';
import { AppError } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import { Modes } from '../modes/modes.service.js';
import { pageOffset } from '../wire-values.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { chargeDetailsAnswer } from './charge-answer.js';
import { findCharge, listCharges, listPayments, type PaymentRow } from './charges.queries.js';

const defaultLimit = 10;

@Injectable()
export class ChargeReading {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly modes: Modes,
  ) {}

  /** Throws `not_found`. */
  async get(account: BankAccount, correlationId: string): Promise<ChargeDetails> {
    const charge = await findCharge(this.database, account.id, correlationId);
    if (!charge) throw new AppError('not_found');
    const payments = await listPayments(this.database, account.id, [correlationId]);
    return chargeDetailsAnswer(charge, account, this.modes.current.chargeStatus, payments);
  }

  /** Newest first, by the days on which they were issued; a longer `limit` is served up to the statement's cap. */
  async list(account: BankAccount, query: ChargesQuery): Promise<ChargeDetails[]> {
    const { statementPageCap, chargeStatus: words } = this.modes.current;
    const limit = Math.min(query.limit ?? defaultLimit, statementPageCap);
    return this.database.snapshot(async (tx) => {
      const charges = await listCharges(tx, {
        accountId: account.id,
        from: query.startDate ? statementDayStart(query.startDate) : null,
        until: query.endDate ? statementDayStart(query.endDate) : null,
        offset: pageOffset(query.page ?? 1, limit),
        limit,
      });
      const ids = charges.map(({ correlationId }) => correlationId);
      const payments = new Map<string, PaymentRow[]>(ids.map((id) => [id, []]));
      for (const payment of await listPayments(tx, account.id, ids))
        payments.get(payment.correlation_id)?.push(payment);
      return charges.map((charge) =>
        chargeDetailsAnswer(charge, account, words, payments.get(charge.correlationId) ?? []),
      );
    });
  }
}
