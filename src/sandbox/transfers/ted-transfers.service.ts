// Accepts TEDs, once for each IdempotencyKey, and reads their state.
import { Injectable } from '@nestjs/common';
import { createTed, type TedResponse } from '../../bank-contract/ted-transfers.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { isUuid } from '../../platform/http/listing.js';
import { findAccountOfParty } from '../accounts/accounts.queries.js';
import type { AccountRequest } from '../accounts/api-key.guard.js';
import { bank, partyOfAccount, type SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Idempotency } from '../idempotency/idempotency.service.js';
import { Random } from '../random.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { responseText } from '../wire-values.js';
import { manualParty } from './sent-pixes.service.js';
import { ScheduledTransfers } from './scheduled-transfers.service.js';
import { TedLifecycle } from './ted-lifecycle.service.js';
import { failureOfAccount, pixFailure } from '../faults/pix-failures.js';
import type { Transfer } from './transfer.js';

@Injectable()
export class SandboxTeds {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly idempotency: Idempotency,
    private readonly lifecycle: TedLifecycle,
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly scheduled: ScheduledTransfers,
  ) {
    scheduled.handle('scheduled-ted', (tx, payer, ted) => lifecycle.begin(tx, payer, ted));
  }

  /** Throws `rule_broken` with the reason `insufficient_funds`. */
  create({ account: payer, ...request }: AccountRequest<typeof createTed>): Promise<Reply> {
    const { amount: amountCents, description, beneficiary: requested, transferAt } = request.body;
    return this.idempotency.runOnce(
      createTed,
      { account: payer, ...request },
      async (tx, idempotencyKey) => {
        const beneficiary = manualParty(requested);
        const isAtThisBank = beneficiary.participant.ispb === bank.ispb;
        const account = await findAccountOfParty(tx, beneficiary);
        const now = this.clock.now();
        const ted: Transfer = {
          id: this.random.uuid(),
          accountId: payer.id,
          type: 'EXTERNAL',
          status: 'PROCESSING',
          amountCents,
          description: description ?? null,
          externalId: null,
          endToEndId: null,
          idempotencyKey,
          payer: partyOfAccount(payer),
          beneficiary,
          beneficiaryAccountId: account?.id ?? null,
          transactionNsu: null,
          isBlocked: false,
          error:
            failureOfAccount(beneficiary.number) ??
            (isAtThisBank && !account ? pixFailure('AC03') : null),
          createdAt: now,
          updatedAt: now,
        };
        const scheduled = await this.scheduled.schedule(tx, 'scheduled-ted', ted, transferAt);
        const begun = scheduled ?? (await this.lifecycle.begin(tx, payer, ted));
        return responseText(createTed, tedResponse(begun));
      },
    );
  }

  /** Throws `not_found` for a TED that the account did not send. */
  async get({ id: accountId }: SandboxAccount, id: string): Promise<TedResponse> {
    const ted =
      isUuid(id) && (await this.database.findRow<Transfer>('transfer', { id, accountId }));
    if (!ted || ted.type !== 'EXTERNAL') throw new AppError('not_found');
    return tedResponse(ted);
  }
}

/** A TED has neither an endToEndId nor an nsu in responses. */
function tedResponse(ted: Transfer): TedResponse {
  const { id, status, type, amountCents: amount, description, payer, beneficiary } = ted;
  return {
    ...{ id, status, type, paymentChannel: 'API', amount },
    createdAt: ted.createdAt.toISOString(),
    updatedAt: ted.updatedAt.toISOString(),
    ...{ description, payer, beneficiary },
    error: status === 'ERROR' ? ted.error : null,
  };
}
