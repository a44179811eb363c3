// Receives a Pix from another institution: for a charge, by QR payload, to a Pix key, or
// unexpected.
import { Injectable } from '@nestjs/common';
import { parseBrCode } from '../../brazil/br-code.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { AppError, invalidField, ruleBroken } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { ChargeCredits } from '../charges/charge-credits.service.js';
import { amountDueOn } from '../charges/charge-parts.js';
import { lockCharge, type ChargeRow } from '../charges/charges.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import type { PostedLine } from '../ledger/movement.js';
import { PixCredits, type PixType } from '../pix/pix-credits.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import type { receivePix } from './control.schema.js';
import { movementOfLine, type PostedMovement } from '../ledger/posted-movement.js';

type Request = RouteInput<typeof receivePix>['body'];

/** The credited account and the amount. A null amount means the amount due of the charge. */
interface Destination {
  account: SandboxAccount;
  amountCents: bigint | null;
  correlationId: string | null;
  /** How the payer addressed the account when there is no charge. */
  type: PixType;
}

@Injectable()
export class IncomingPixes {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly pixCredits: PixCredits,
    private readonly chargeCredits: ChargeCredits,
    private readonly clock: BankClock,
  ) {}

  async receive(caller: SandboxAccount, request: Request): Promise<PostedMovement> {
    const destination = await this.destinationOf(caller, request);
    return movementOfLine(await this.credit(destination, request.payer ?? {}));
  }

  private async credit(
    { account, amountCents, correlationId, type }: Destination,
    payer: { name?: string | null | undefined; document?: string | null | undefined },
  ): Promise<PostedLine> {
    return this.database.transaction(async (tx) => {
      if (correlationId === null) {
        const amount = required(amountCents);
        const pix = { account, amountCents: amount, type, correlationId, payer };
        return (await this.pixCredits.credit(tx, pix)).line;
      }
      const charge = await lockCharge(tx, { accountId: account.id, correlationId });
      if (!charge) throw new AppError('not_found');
      const amount = required(amountCents ?? amountDueOn(charge, this.clock.today()));
      const paid = await this.chargeCredits.creditPix(tx, account, charge, {
        amountCents: amount,
        payer,
      });
      return paid.line;
    });
  }

  private async destinationOf(caller: SandboxAccount, request: Request): Promise<Destination> {
    const { key, payloadPix, correlationId } = request;
    const namedAccount = await this.accounts.getNamed(request.account, null);
    const amountCents = request.amount ?? null;
    if (payloadPix) return this.destinationOfPayload(payloadPix, amountCents, namedAccount);
    if (key) {
      const account = await this.ownerOf(key, namedAccount);
      return { account, amountCents, correlationId: null, type: 'PIX_KEY' };
    }
    return {
      account: namedAccount ?? caller,
      amountCents,
      correlationId: correlationId ?? null,
      type: 'PIX_MANUAL',
    };
  }

  /** Checks as a payer's bank does: a fixed amount cannot change, a missing one is required. */
  private async destinationOfPayload(
    payload: string,
    requestedCents: bigint | null,
    namedAccount: SandboxAccount | null,
  ): Promise<Destination> {
    const parsed = parseBrCode(payload);
    if (!parsed.ok) throw invalidField('$.payloadPix', `Is not a Pix payload: ${parsed.reason}.`);
    const { pixKey, txid, amountCents: fixedCents } = parsed.brCode;
    if (!pixKey) throw ruleBroken('qr_code_not_found', 'The payload has no Pix key of this bank.');
    if (fixedCents !== null && requestedCents !== null && fixedCents !== requestedCents)
      throw ruleBroken('amount_fixed', 'The amount must equal the fixed amount of this QR code.');
    const account = await this.ownerOf(pixKey, namedAccount);
    const key = { accountId: account.id, txid };
    const charge = txid && (await this.database.findRow<ChargeRow>('charge', key));
    const correlationId = charge && charge.correlationId;
    const amountCents = fixedCents ?? requestedCents;
    return { account, amountCents, correlationId, type: 'PIX_QR_CODE_STATIC' };
  }

  private async ownerOf(key: string, namedAccount: SandboxAccount | null): Promise<SandboxAccount> {
    const owner = await this.accounts.findByPixKey(key);
    if (!owner)
      throw ruleBroken('pix_key_not_found', 'The Pix key belongs to no account of this bank.');
    if (namedAccount && namedAccount.id !== owner.id)
      throw ruleBroken('pix_key_not_of_account', 'The Pix key belongs to another account.');
    return owner;
  }
}

function required(amountCents: bigint | null): bigint {
  if (amountCents !== null) return amountCents;
  throw invalidField('$.amount', 'The field is required.');
}
