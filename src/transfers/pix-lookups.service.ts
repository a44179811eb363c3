// Look-ups of Pix keys: the account of a key, and the endToEndId that starts one transfer to that
// account. The key is personal data and is not stored.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { lookUpPixKey } from '../contract/pix-lookup.js';
import type { RouteInput } from '../contract/route.js';
import { Database, type SqlTx } from '../database.service.js';
import { formatCounterparty } from '../expected-payments/counterparty.js';
import type { PixLookup } from '../generated/service/client.js';
import { Reply } from '../platform/contract-route.js';
import { AppError, ruleBroken } from '../platform/errors.js';
import { BankTime } from '../statement/bank-time.service.js';
import { pixLookupExpiry } from './transfer-request.js';
import { findPixLookup, type LookupClaim } from './transfers.queries.js';

@Injectable()
export class PixLookupsService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
  ) {}

  /** Looks the key up at the bank and stores the look-up, so that it can start a transfer. */
  async lookUp(
    accountId: number,
    input: RouteInput<typeof lookUpPixKey>,
  ): Promise<{ endToEndId: string; reply: Reply }> {
    const account = await this.accounts.get(accountId);
    const { status, text, value, date } = await this.bank.callOrThrow(lookUpPixKey, account, input);
    const lookedUpAt = date ?? (await this.bankTime.now(accountId));
    const { endToEndId, beneficiary } = value;
    const { number, branch, participant } = beneficiary;
    await this.database.prisma.pixLookup.createMany({
      data: {
        accountId,
        endToEndId,
        counterparty: formatCounterparty({ ispb: participant.ispb, branch, number }),
        lookedUpAt,
        expiresAt: pixLookupExpiry(endToEndId, lookedUpAt),
      },
      // A bank may answer a repeat with the earlier look-up. That look-up stays used if a transfer
      // uses it.
      skipDuplicates: true,
    });
    return { endToEndId, reply: new Reply(status, text) };
  }

  /** Null unless this account made the look-up. */
  async find(accountId: number, endToEndId: string): Promise<PixLookup | null> {
    const where = { accountId_endToEndId: { accountId, endToEndId } };
    return this.database.prisma.pixLookup.findUnique({ where });
  }

  /** Reads the bank's clock outside the transaction that claims the look-up. */
  async prepareClaim(
    accountId: number,
    endToEndId: string,
  ): Promise<Omit<LookupClaim, 'operationId'>> {
    const now = await this.bankTime.now(accountId);
    return { endToEndId, now, expiresAt: pixLookupExpiry(endToEndId, now) };
  }

  /** Why a look-up cannot start a transfer: `lookupClaimsWrite` has not claimed it. */
  async refusalOf(tx: SqlTx, accountId: number, { endToEndId }: LookupClaim): Promise<AppError> {
    const lookup = await findPixLookup(tx, accountId, endToEndId);
    const isUsed = lookup !== null && lookup.operationId !== null;
    return lookupError(isUsed ? 'look_up_used' : 'look_up_expired');
  }
}

// The reasons are the bank's own codes, which its clients know.
const lookupErrors = {
  look_up_used: 'The endToEndId was already used for a transfer: look the key up again.',
  look_up_expired: 'The key look-up has expired: look the key up again.',
};

function lookupError(reason: keyof typeof lookupErrors): AppError {
  return ruleBroken(reason, lookupErrors[reason]);
}
