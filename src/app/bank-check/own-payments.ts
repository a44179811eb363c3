// What the check does at the bank with consent: charges that the bank's simulation pays, transfers
// of cents, a refund of cents. Each is requested once, but for the repeats that are the question.
import { randomInt, randomUUID } from 'node:crypto';
import { addDays } from '../../brazil/calendar.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { createCharge, getCharge, payCharge } from '../../bank-contract/charges.js';
import { refundTransaction } from '../../bank-contract/refunds.js';
import { createTransfer, getTransfer } from '../../bank-contract/transfers.js';
import type { BankClient } from './bank-client.js';
import { answeredText } from './habits.js';
import { isSuccess, type CheckAnswer, type Effect, type Repeated } from './observations.js';

const paidCharges = 4;
/** A CPF with valid check digits, which stands in examples; nobody is charged. */
const payer = { name: 'Concilia bank-check', document: '52998224725' };

export interface OwnTransfers {
  repeated: Repeated;
  externalId: string;
}

interface Charge {
  correlationId: string;
  amountCents: bigint;
}

export class OwnPayments {
  readonly effects: Effect[] = [];
  readonly simulations: CheckAnswer[] = [];
  repeatedCharge: Repeated | null = null;
  transfers: OwnTransfers | null = null;
  private readonly charges: Charge[] = [];
  /** Makes the amounts of two checks differ. */
  private readonly offset = BigInt(randomInt(40));

  constructor(private readonly client: BankClient) {}

  get correlationIds(): string[] {
    return this.charges.map(({ correlationId }) => correlationId);
  }

  /** Charges to be paid; no money moves. */
  async issueCharges(): Promise<void> {
    const dueDate = addDays(statementDayOf(this.client.bankTime!), 10);
    for (let index = 0; index < paidCharges; index += 1) {
      const charge = {
        correlationId: randomUUID(),
        amountCents: 500n + 10n * this.offset + BigInt(index),
      };
      const { correlationId, amountCents: Amount } = charge;
      const body = { type: 'BANKSLIP_PIX' as const, correlationId, Amount, dueDate, payer };
      const first = await this.client.ask(createCharge, { body });
      if (isSuccess(first)) this.charges.push(charge);
      if (index === 0)
        this.repeatedCharge = { first, repeat: await this.client.ask(createCharge, { body }) };
    }
  }

  /** Quickly one after another: whether lines overtake each other must show. */
  async move(beneficiaryAccount: string | null): Promise<void> {
    for (const charge of this.charges) await this.pay(charge);
    if (beneficiaryAccount !== null) {
      const repeated = await this.transfer(beneficiaryAccount, 11n + this.offset, true);
      this.transfers = repeated;
      await this.transfer(beneficiaryAccount, 51n + this.offset, false);
    }
    const paid = this.effects.find(({ kind, answer }) => kind === 'payment' && isSuccess(answer));
    if (paid?.correlationId) await this.refund(paid.correlationId);
  }

  readTransferById(): Promise<CheckAnswer> | null {
    const { first, repeat } = this.transfers?.repeated ?? {};
    const id = [first, repeat].flatMap((one) => (one && answeredText(one, 'id')) ?? [])[0];
    return id === undefined ? null : this.client.ask(getTransfer, { params: { identifier: id } });
  }

  readTransferByExternalId(): Promise<CheckAnswer> | null {
    const { repeated, externalId: identifier = '' } = this.transfers ?? {};
    if (!repeated || !isSuccess(repeated.first)) return null;
    return this.client.ask(getTransfer, { params: { identifier } });
  }

  readChargeById(): Promise<CheckAnswer> | null {
    const [correlationId] = this.correlationIds;
    return correlationId === undefined
      ? null
      : this.client.ask(getCharge, { params: { correlationId } });
  }

  private async pay({ correlationId, amountCents }: Charge): Promise<void> {
    const answer = await this.client.ask(payCharge, { params: { correlationId } });
    this.simulations.push(answer);
    const line = { isCredit: true, amountCents, externalId: null };
    this.effects.push({ kind: 'payment', ...line, correlationId, answer });
  }

  private async transfer(
    beneficiaryAccount: string,
    amount: bigint,
    isRepeated: boolean,
  ): Promise<OwnTransfers> {
    const externalId = randomUUID();
    const input = {
      body: { amount, beneficiaryAccount, externalId, description: 'bank-check' },
      idempotencyKey: randomUUID(),
    };
    const first = await this.client.ask(createTransfer, input);
    const line = { isCredit: false, amountCents: amount, correlationId: null };
    this.effects.push({ kind: 'transfer', ...line, externalId, answer: first });
    const repeat = isRepeated ? await this.client.ask(createTransfer, input) : first;
    return { repeated: { first, repeat }, externalId };
  }

  private async refund(correlationId: string): Promise<void> {
    const amount = 1n + (this.offset % 9n);
    const answer = await this.client.ask(refundTransaction, {
      params: { transactionId: correlationId },
      query: { filterBy: 'CORRELATION_ID' },
      body: { amount, description: 'bank-check' },
    });
    const line = { isCredit: false, amountCents: amount, externalId: null };
    this.effects.push({ kind: 'refund', ...line, correlationId, answer });
  }
}
