// Look-ups of Pix keys: who a key leads to, and the endToEndId that begins one transfer there. The key itself is
// personal data and is not kept.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { lookUpPixKey } from '../contract/pix-lookup.js';
import type { RouteInput } from '../contract/route.js';
import { Database, type Tx } from '../database.service.js';
import { writeCounterparty } from '../expected-payments/counterparty.js';
import type { Operation } from '../operations/operation.js';
import { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { BankTime } from '../statement/bank-time.service.js';
import { lookupExpiry } from './lookup-expiry.js';
import * as queries from './pix-lookups.queries.js';

@Injectable()
export class PixLookups {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
  ) {}

  /** Asks the bank and hands its answer on; the look-up may begin a transfer from then on. */
  async lookUp(
    accountId: number,
    input: RouteInput<typeof lookUpPixKey>,
  ): Promise<{ endToEndId: string; reply: Reply }> {
    const account = await this.accounts.get(accountId);
    const { status, text, value, date } = await this.bank.ask(lookUpPixKey, account, input);
    const lookedUpAt = date ?? (await this.bankTime.now(accountId));
    const { endToEndId, beneficiary } = value;
    const { number, branch, participant } = beneficiary;
    await this.database.prisma.pixLookup.createMany({
      data: {
        accountId,
        endToEndId,
        counterparty: writeCounterparty({ ispb: participant.ispb, branch, number }),
        lookedUpAt,
        expiresAt: lookupExpiry(endToEndId, lookedUpAt),
      },
      // A bank may answer a repeat with the look-up that it made: that stays used if it is.
      skipDuplicates: true,
    });
    return { endToEndId, reply: new Reply(status, text) };
  }

  /** Throws for one that this account has not made. */
  async get(accountId: number, endToEndId: string): Promise<queries.Lookup> {
    const lookup = await queries.findLookup(this.database.prisma, accountId, endToEndId);
    if (!lookup) throw refused('look_up_not_found');
    return lookup;
  }

  /** What takes a look-up for an operation: once, and before it expires by the bank's clock. */
  async taker(accountId: number, endToEndId: string) {
    const now = await this.bankTime.now(accountId);
    return async (tx: Tx, operationId: string): Promise<void> => {
      if (await queries.takeLookup(tx, accountId, endToEndId, operationId, now)) return;
      const lookup = await queries.findLookup(tx, accountId, endToEndId);
      if (!lookup) throw refused('look_up_not_found');
      throw refused(lookup.operationId === null ? 'look_up_expired' : 'look_up_used');
    };
  }

  /** The transfer that it began was rejected: it may begin another. */
  async free(tx: Tx, { accountId, id }: Operation): Promise<void> {
    await queries.freeLookup(tx, accountId, id);
  }

  /** The transfer that was taken for rejected was done after all. */
  async takeBack(tx: Tx, { accountId, id }: Operation): Promise<void> {
    await queries.takeLookupBack(tx, accountId, id);
  }
}

// The bank's own words for it: a client of the bank knows them.
const refusals = {
  look_up_not_found: 'The endToEndId is not of a key look-up of this account.',
  look_up_used: 'The endToEndId has begun a transfer already.',
  look_up_expired: 'The key look-up is too old.',
};

function refused(reason: keyof typeof refusals): AppError {
  return new AppError('rule_broken', { reason, public: refusals[reason] });
}
