// What a person must know before money moves: what the account has, and who is paid.
import { Injectable } from '@nestjs/common';
import {
  counterpartyIn,
  findCounterparties,
} from '../access/counterparties/counterparties.queries.js';
import { maskParty } from '../access/counterparties/masking.js';
import type { PaymentParty } from '../access/counterparties/party.js';
import { PixLookupsService } from '../outbound/transfers/pix-lookups.service.js';
import { Database } from '../platform/postgres/database.service.js';
import { ActorNames } from './actor-names.service.js';
import { readKnownBalances, type Balances } from './balances.queries.js';
import {
  readRequestedPayment,
  withLookedUpPayee,
  type WaitingRequest,
} from './requested-payment.js';
import { accountOf, callerOf, type Visit } from './visit.js';

/** Who asks for a payment, and when. */
export interface Asked {
  by: string;
  at: Date;
}

@Injectable()
export class MoneyFacts {
  constructor(
    private readonly database: Database,
    private readonly names: ActorNames,
    private readonly lookUps: PixLookupsService,
  ) {}

  async findBalances(accountId: number): Promise<Balances> {
    return readKnownBalances(this.database.prisma, accountId);
  }

  /** Who has paid the line, or was paid by it, as the person may see it. */
  async findParty(visit: Visit, nsu: bigint): Promise<PaymentParty> {
    const { id } = accountOf(visit);
    const found = counterpartyIn(await findCounterparties(this.database.prisma, id, [nsu]), nsu);
    return visit.may('see personal data') ? found : maskParty(found);
  }

  /** Who gets the money of the operation, and by which code, as the person may see it. */
  async findPayee(
    visit: Visit,
    request: WaitingRequest,
  ): Promise<{ party: PaymentParty; key: string | null }> {
    const requested = readRequestedPayment(request);
    const { refundedNsu, endToEndId } = requested;
    if (refundedNsu !== null) return { party: await this.findParty(visit, refundedNsu), key: null };
    const lookUps = endToEndId === null ? [] : [endToEndId];
    const { id } = accountOf(visit);
    const payees = await this.lookUps.findPayees(id, lookUps);
    const { party, pixKey, digitableLine } = withLookedUpPayee(requested, payees);
    const isVisible = visit.may('see personal data');
    if (!isVisible) return { party: maskParty(party), key: null };
    return { party, key: pixKey ?? digitableLine };
  }

  /** The person of the page, now. */
  async readAsked(visit: Visit): Promise<Asked> {
    const { actor } = callerOf(visit);
    const [nameOf, at] = await Promise.all([this.names.find(visit, [actor]), this.database.now()]);
    return { by: nameOf(actor), at };
  }
}
