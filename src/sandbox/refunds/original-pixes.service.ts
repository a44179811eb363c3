// Finds the received Pix that a refund refers to. Reads only.
import { Injectable } from '@nestjs/common';
import type { RefundFilter } from '../../bank-contract/refunds.js';
import { AppError, invalidField, unreachable, ruleBroken } from '../../platform/errors.js';
import { isNsu } from '../../platform/http/listing.js';
import { findAccountOfParty } from '../accounts/accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { type SandboxAccount, type Party, outsideParty } from '../accounts/party.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import {
  chooseReceivedPix,
  isWithinRefundWindow,
  type OriginalPix,
  type ReceivedPixLine,
} from './original-pix.js';
import { listReferencedLines } from './refunds.queries.js';

@Injectable()
export class OriginalPixes {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
  ) {}

  /**
   * Throws `not_found`, also for a Pix that another account received, and `rule_broken` with the
   * reason `not_refundable` or `ambiguous_reference`.
   */
  async get(
    account: SandboxAccount,
    reference: { filterBy: RefundFilter; id: string },
  ): Promise<OriginalPix> {
    if (reference.filterBy === 'NSU' && !isNsu(reference.id))
      throw invalidField('$.transactionId', 'Must be a whole number.');
    const lines = await listReferencedLines(this.database, account.id, reference);
    const chosen = chooseReceivedPix(lines);
    switch (chosen.outcome) {
      case 'absent':
        throw new AppError('not_found');
      case 'not_refundable':
        throw ruleBroken('not_refundable', 'Only a received Pix can be refunded.');
      case 'ambiguous':
        throw ruleBroken(
          'ambiguous_reference',
          'Several received Pix have this id; identify one by END_TO_END_ID or NSU.',
        );
      case 'chosen':
        return this.read(account, chosen.line);
      default:
        return unreachable(chosen);
    }
  }

  /** Throws `rule_broken` with the reason `refund_window_closed`. */
  requireOpenWindow({ receivedAt }: OriginalPix): void {
    if (isWithinRefundWindow(receivedAt, this.clock.now())) return;
    throw ruleBroken(
      'refund_window_closed',
      'A Pix can be refunded up to 90 days after its receipt.',
    );
  }

  private async read(account: SandboxAccount, line: ReceivedPixLine): Promise<OriginalPix> {
    const payer = payerOf(line);
    return {
      account,
      amountCents: line.changeCents,
      endToEndId: line.endToEndId,
      receivedAt: line.createdAt,
      payer,
      payerAccount: await findAccountOfParty(this.database, payer),
    };
  }
}

/** The payer in the line's proof, or a default payer for a line that a test wrote without one. */
function payerOf({ proof }: ReceivedPixLine): Party {
  const { payer } = (proof ?? {}) as { payer?: Party };
  return payer ?? outsideParty({});
}
