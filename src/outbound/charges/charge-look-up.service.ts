// Looks up a charge by its correlationId at the bank, to recover an operation whose response never
// came.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import type { InterestPeriod } from '../../brazil/amount-owed.js';
import {
  chargeRequest,
  getCharge,
  type ChargeDetails,
  type ChargeResponse,
} from '../../bank-contract/charges.js';
import { staticQrRequest, type StaticQrResponse } from '../../bank-contract/static-qr.js';
import type { Charge } from '../../generated/service/client.js';
import type { LookUpResult, Operation } from '../operations/operation.js';
import { parseJson } from '../../platform/json/exact-json.js';

@Injectable()
export class ChargeLookUp {
  constructor(private readonly bank: BankService) {}

  /** How many days after its last day a charge may be shown as paid. */
  get creditDays(): number {
    const { hasStatusById, creditDays } = this.bank.profile;
    return hasStatusById ? 0 : creditDays.slip;
  }

  /** What a percentage of late interest is of. */
  get interestPeriod(): InterestPeriod {
    return this.bank.profile.interestPeriod;
  }

  async charge(account: BankAccount, operation: Operation): Promise<LookUpResult<ChargeResponse>> {
    const { correlationId, Amount } = z.decode(chargeRequest, bodyOf(operation));
    const found = await this.lookUp(account, { correlationId, amountCents: Amount });
    if (found.outcome !== 'accepted') return found;
    const { barCode, qrCode } = found.response;
    // The caller needs the codes. A repeat returns them, where it is safe.
    if (barCode == null && qrCode == null && this.bank.profile.isRepeatSafe)
      return { outcome: 'unknown' };
    return { ...found, response: { ...found.response, amount: Amount } };
  }

  /**
   * A QR code's details lack its image and its holder. If a repeat is safe, recovery resends the
   * request to get the full creation response. Otherwise these details are the response.
   */
  async staticQr(
    account: BankAccount,
    operation: Operation,
  ): Promise<LookUpResult<StaticQrResponse>> {
    const { correlationId, amount } = z.decode(staticQrRequest, bodyOf(operation));
    const found = await this.lookUp(account, { correlationId, amountCents: amount ?? null });
    if (found.outcome !== 'accepted') return found;
    if (this.bank.profile.isRepeatSafe) return { outcome: 'unknown' };
    return { ...found, response: found.response as unknown as StaticQrResponse };
  }

  private async lookUp(
    account: BankAccount,
    { correlationId, amountCents }: Pick<Charge, 'correlationId' | 'amountCents'>,
  ): Promise<LookUpResult<ChargeDetails>> {
    const response = await this.bank.call(
      getCharge,
      account,
      { params: { correlationId } },
      {
        echoes: (charge) =>
          charge.correlationId === correlationId && (charge.amount ?? null) === amountCents,
      },
    );
    if (response.outcome === 'rejection' && response.status === 404) return { outcome: 'absent' };
    if (response.outcome !== 'success') return { outcome: 'unknown' };
    const { status, text, value } = response;
    return { outcome: 'accepted', status, text, response: value, bankReference: correlationId };
  }
}

function bodyOf({ requestBody }: Operation): never {
  return parseJson(requestBody ?? 'null') as never;
}
