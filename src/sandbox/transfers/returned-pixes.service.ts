// Returns a Pix that an account sent, whole or in part, and never more than was sent. The payer is
// credited. A beneficiary at this bank is debited.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { AppError, invariant, ruleBroken } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import { movementOfLine, type PostedMovement } from '../ledger/posted-movement.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement } from '../ledger/movement.js';
import { EndToEndIds } from '../pix/pix-credits.service.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';
import { pixRefundedBody } from '../pix/pix-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { returnCode, returnLine } from './sent-pix.js';
import type { Transfer } from './transfer.js';
import type { returnSentPix } from './transfers-control.schema.js';
import { sumReturnedCents } from './transfers.queries.js';

type Request = RouteInput<typeof returnSentPix>['body'];

@Injectable()
export class ReturnedPixes {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly ledger: SandboxLedger,
    private readonly webhooks: Webhooks,
    private readonly ids: EndToEndIds,
  ) {}

  async receive(caller: SandboxAccount, request: Request): Promise<PostedMovement> {
    const payer = await this.accounts.getNamed(request.account, caller);
    return this.database.transaction(async (tx) => {
      const key = { endToEndId: request.endToEndId, accountId: payer.id };
      const original = await tx.lockRow<Transfer>('transfer', key);
      if (!original) throw new AppError('not_found');
      if (original.status !== 'PIX_EFFECTIVE')
        throw ruleBroken('pix_not_effective', 'Only an effective Pix can be returned.');
      return this.postReturn(tx, payer, original, request);
    });
  }

  private async postReturn(
    tx: SandboxTx,
    payer: SandboxAccount,
    original: Transfer,
    request: Request,
  ): Promise<PostedMovement> {
    const { amount, reason = null } = request;
    const beneficiary = await findAccountById(tx, original.beneficiaryAccountId);
    const sides = beneficiary ? [payer, beneficiary] : [payer];
    await this.ledger.lock(tx, sides);
    const amountCents = await this.amountOf(tx, original, sides, amount ?? null);
    const { ispb } = original.beneficiary.participant;
    const endToEndId = this.ids.ofRefund(ispb, request.endToEndId);
    const parts = { endToEndId, original, amountCents, reason };
    if (beneficiary) {
      const debit = returnLine('DEBIT_PIX_REFUND', parts);
      await this.ledger.post(tx, outsideMovement(beneficiary, 'spi', -amountCents, debit));
    }
    const credit = returnLine('CREDIT_PIX_REFUND', parts);
    const [line] = await this.ledger.post(tx, outsideMovement(payer, 'spi', amountCents, credit));
    const body = pixRefundedBody({
      ...parts,
      originalEndToEndId: request.endToEndId,
      refundCode: returnCode,
      createdAt: line.createdAt,
      payer: original.beneficiary,
      beneficiary: original.payer,
    });
    this.webhooks.notify(tx, payer, 'PIX_REFUNDED', { body, at: line.createdAt });
    return movementOfLine(line);
  }

  /** The amount to return. The caller has locked both accounts: no other return changes the sum. */
  private async amountOf(
    tx: SandboxTx,
    original: Transfer,
    sides: readonly SandboxAccount[],
    requestedCents: bigint | null,
  ): Promise<bigint> {
    invariant(original.endToEndId, 'a Pix has its endToEndId');
    const accounts = sides.map(({ id }) => id);
    const returnedCents = await sumReturnedCents(tx, original.endToEndId, accounts);
    const returnableCents = original.amountCents - returnedCents;
    const amountCents = requestedCents ?? returnableCents;
    if (amountCents > 0n && amountCents <= returnableCents) return amountCents;
    throw ruleBroken('return_exceeds_pix', 'The returns would exceed the amount of the Pix.');
  }
}
