// One charge for each correlationId of an account, whoever asks at the same time: the row is inserted once, and a
// repeat with the same body is given the first answer again.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import type { Queryable, Tx } from '../sandbox-database.service.js';
import { findCharge, insertCharge, takeChargeId, type ChargeRow } from './charges.queries.js';
import { OverdueCharges } from './overdue-charges.service.js';

/** What a kind of charge says of itself; the rest is empty. */
export type NewCharge = Pick<ChargeRow, 'type' | 'status' | 'amountCents'> &
  Partial<Omit<ChargeRow, 'answer' | 'bodyHash' | 'correlationId'>>;

export interface ChargeIdentity {
  correlationId: string;
  bodyHash: string;
}

const empty = {
  wallet: null,
  ourNumber: null,
  yourNumber: null,
  dueDate: null,
  barCode: null,
  digitableLine: null,
  payer: null,
  finalBeneficiary: null,
  adjustments: null,
  pixKey: null,
  txid: null,
  qrCode: null,
  description: null,
  additionalInformation: null,
};

@Injectable()
export class ChargeBook {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly overdue: OverdueCharges,
  ) {}

  /**
   * Issues a charge and gives the text that is answered. `make` is given the charge's number, `answer` the row. A
   * correlationId that was used with another body is 409.
   */
  async issueOnce(
    tx: Tx,
    account: BankAccount,
    identity: ChargeIdentity,
    make: (id: bigint) => NewCharge,
    answer: (charge: Omit<ChargeRow, 'answer'>) => string | Promise<string>,
  ): Promise<string> {
    const earlier = await this.findRepeat(tx, account, identity);
    if (earlier !== null) return earlier;
    const id = await takeChargeId(tx);
    const now = this.clock.now();
    const times = { createdAt: now, updatedAt: now };
    const charge = { ...empty, ...times, ...identity, ...make(id), id, accountId: account.id };
    const text = await answer(charge);
    if (await insertCharge(tx, { ...charge, answer: text })) {
      await this.overdue.schedule(tx, charge);
      return text;
    }
    const winner = await this.findRepeat(tx, account, identity);
    invariant(winner !== null, 'a correlationId that is taken has its charge');
    return winner;
  }

  /** The first answer, or null when the correlationId is new; throws `conflict` when its body was another or no repeat is replayed. */
  async findRepeat(
    database: Queryable,
    account: BankAccount,
    { correlationId, bodyHash }: ChargeIdentity,
  ): Promise<string | null> {
    const earlier = await findCharge(database, account.id, correlationId);
    if (!earlier) return null;
    // A correlationId is unique whatever the mode: where repeats are not replayed, each is a conflict.
    const isReplayed = this.modes.current.idempotentRepeat === 'replay';
    if (isReplayed && earlier.bodyHash === bodyHash) return earlier.answer;
    throw new AppError('conflict', {
      public: isReplayed
        ? 'The correlationId was used before with another body.'
        : 'The correlationId was used before.',
      reason: 'correlation_id_reused',
    });
  }
}
