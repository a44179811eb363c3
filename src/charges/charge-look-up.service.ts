// Finds out, by its correlationId, whether the bank has taken a charge whose answer went astray.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import {
  chargeRequest,
  chargeResponse,
  getCharge,
  type ChargeDetails,
  type ChargeResponse,
} from '../contract/charges.js';
import { staticQrRequest, type StaticQrResponse } from '../contract/static-qr.js';
import type { LookedUp, Operation } from '../operations/operation.js';
import { parseJson } from '../platform/exact-json.js';

interface Asked {
  correlationId: string;
  amountCents: bigint | null;
}

@Injectable()
export class ChargeLookUp {
  constructor(private readonly bank: BankService) {}

  /** Whether this bank can be asked for a charge by its id. */
  get isOffered(): boolean {
    return this.bank.profile.hasStatusById;
  }

  async charge(account: BankAccount, operation: Operation): Promise<LookedUp<ChargeResponse>> {
    const { correlationId, Amount } = z.decode(chargeRequest, bodyOf(operation));
    const found = await this.ask(account, { correlationId, amountCents: Amount });
    if (found.found !== 'accepted') return found;
    // The charge as it stands tells all that its creation did; what does not is no answer to hand on.
    const answer = z.safeDecode(chargeResponse, parseJson(found.text) as never);
    return answer.success ? { ...found, answer: answer.data } : { found: 'unknown' };
  }

  /**
   * A QR code as it stands lacks its image and its holder: where a repeat brings the creation's own answer, that is
   * asked for instead, and only elsewhere this one is handed on.
   */
  async staticQr(account: BankAccount, operation: Operation): Promise<LookedUp<StaticQrResponse>> {
    const { correlationId, amount } = z.decode(staticQrRequest, bodyOf(operation));
    const found = await this.ask(account, { correlationId, amountCents: amount ?? null });
    if (found.found !== 'accepted') return found;
    if (this.bank.profile.isRepeatSafe) return { found: 'unknown' };
    return { ...found, answer: found.answer as unknown as StaticQrResponse };
  }

  private async ask(account: BankAccount, asked: Asked): Promise<LookedUp<ChargeDetails>> {
    const { correlationId, amountCents } = asked;
    const answer = await this.bank.call(
      getCharge,
      account,
      { params: { correlationId } },
      {
        echoes: (told) =>
          told.correlationId === correlationId && (told.amount ?? null) === amountCents,
      },
    );
    if (answer.outcome === 'rejection' && answer.status === 404) return { found: 'absent' };
    if (answer.outcome !== 'success') return { found: 'unknown' };
    const { status, text, value } = answer;
    return { found: 'accepted', status, text, answer: value, bankReference: value.status };
  }
}

function bodyOf({ requestBody }: Operation): never {
  return parseJson(requestBody ?? 'null') as never;
}
