// Reads charges in their current state, with their payments.
import { Injectable } from '@nestjs/common';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { ChargeDetails, ChargesQuery } from '../../bank-contract/charges.js';
import { AppError } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { Modes } from '../modes/modes.service.js';
import { pageOffset } from '../wire-values.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { chargeDetailsResponse } from './charge-response.js';
import {
  findCharge,
  listIssuedCharges,
  listChargePayments,
  type ChargePaymentRow,
} from './charges.queries.js';

const defaultLimit = 10;

@Injectable()
export class ChargeReading {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly modes: Modes,
  ) {}

  /** Throws `not_found`. */
  async get(account: SandboxAccount, correlationId: string): Promise<ChargeDetails> {
    const charge = await findCharge(this.database, { accountId: account.id, correlationId });
    if (!charge) throw new AppError('not_found');
    const payments = await listChargePayments(this.database, account.id, [correlationId]);
    return chargeDetailsResponse(charge, account, this.modes.current, payments);
  }

  /**
   * Newest first, filtered by day of issue. A `limit` above the mode `statementPageCap` is reduced
   * to it.
   */
  async list(account: SandboxAccount, query: ChargesQuery): Promise<ChargeDetails[]> {
    const modes = this.modes.current;
    const limit = Math.min(query.limit ?? defaultLimit, modes.statementPageCap);
    return this.database.snapshot(async (tx) => {
      const charges = await listIssuedCharges(tx, {
        accountId: account.id,
        from: query.startDate ? statementDayStart(query.startDate) : null,
        until: query.endDate ? statementDayStart(query.endDate) : null,
        offset: pageOffset(query.page ?? 1, limit),
        limit,
      });
      const ids = charges.map(({ correlationId }) => correlationId);
      const payments = new Map<string, ChargePaymentRow[]>(ids.map((id) => [id, []]));
      for (const payment of await listChargePayments(tx, account.id, ids))
        payments.get(payment.correlationId ?? '')?.push(payment);
      return charges.map((charge) =>
        chargeDetailsResponse(charge, account, modes, payments.get(charge.correlationId) ?? []),
      );
    });
  }
}
