// A Pix from outside: for a charge, by a QR payload, to a key, or one that nobody asked for.
import { Injectable } from '@nestjs/common';
import { parseBrCode } from '../../brazil/br-code.js';
import type { RouteInput } from '../../contract/route.js';
import { AppError } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { BankAccount } from '../accounts/party.js';
import { ChargeCredits } from '../charges/charge-credits.service.js';
import { askedAmount } from '../charges/charge-parts.js';
import { findCorrelationIdByTxid, lockCharge } from '../charges/charges.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import type { PostedLine } from '../ledger/movement.js';
import { PixCredits, type PixType } from '../pix/pix-credits.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { movementOfLine } from '../ledger/posted-movement.js';
import type { receivePix } from './control.schema.js';
import type { PostedMovement } from '../ledger/posted-movement.js';

type Request = RouteInput<typeof receivePix>['body'];

/** Where the money goes and for how much; a null amount is what the charge asks for. */
interface Destination {
  account: BankAccount;
  amountCents: bigint | null;
  correlationId: string | null;
  /** How the payer came to the account when there is no charge. */
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

  async receive(caller: BankAccount, request: Request): Promise<PostedMovement> {
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
      const charge = await lockCharge(tx, account.id, correlationId);
      if (!charge) throw new AppError('not_found');
      const amount = required(amountCents ?? askedAmount(charge, this.clock.today()));
      const paid = await this.chargeCredits.creditPix(tx, account, charge, {
        amountCents: amount,
        payer,
      });
      return paid.line;
    });
  }

  private async destinationOf(caller: BankAccount, request: Request): Promise<Destination> {
    const { key, payloadPix, correlationId } = request;
    const named = request.account ? await this.accounts.getByNumber(request.account) : null;
    const amountCents = request.amount ?? null;
    if (payloadPix) return this.destinationOfPayload(payloadPix, amountCents, named);
    if (key) {
      const account = await this.ownerOf(key, named);
      return { account, amountCents, correlationId: null, type: 'PIX_KEY' };
    }
    return {
      account: named ?? caller,
      amountCents,
      correlationId: correlationId ?? null,
      type: 'PIX_MANUAL',
    };
  }

  /** What a payer's bank does with a payload: a fixed amount cannot be changed, a free one must be given. */
  private async destinationOfPayload(
    payload: string,
    asked: bigint | null,
    named: BankAccount | null,
  ): Promise<Destination> {
    const parsed = parseBrCode(payload);
    if (!parsed.ok)
      throw new AppError('validation_failed', {
        errors: { '$.payloadPix': [`Is not a Pix payload: ${parsed.reason}.`] },
      });
    const { pixKey, txid, amountCents: fixed } = parsed.brCode;
    if (!pixKey)
      throw new AppError('rule_broken', {
        public: 'The payload is of another bank.',
        reason: 'qr_code_not_found',
      });
    if (fixed !== null && asked !== null && fixed !== asked)
      throw new AppError('rule_broken', {
        public: 'The payer cannot change the amount of this QR code.',
        reason: 'amount_fixed',
      });
    const account = await this.ownerOf(pixKey, named);
    const correlationId = txid && (await findCorrelationIdByTxid(this.database, account.id, txid));
    return { account, amountCents: fixed ?? asked, correlationId, type: 'PIX_QR_CODE_STATIC' };
  }

  private async ownerOf(key: string, named: BankAccount | null): Promise<BankAccount> {
    const owner = await this.accounts.findByPixKey(key);
    if (!owner)
      throw new AppError('rule_broken', {
        public: 'No account of this bank has that Pix key.',
        reason: 'pix_key_not_found',
      });
    if (named && named.id !== owner.id)
      throw new AppError('rule_broken', {
        public: 'The Pix key is of another account.',
        reason: 'pix_key_not_of_account',
      });
    return owner;
  }
}

function required(amountCents: bigint | null): bigint {
  if (amountCents !== null) return amountCents;
  throw new AppError('validation_failed', { errors: { '$.amount': ['The field is required.'] } });
}
