// Issues one charge per correlationId of an account, also under concurrent requests: the row is
// inserted once, and a repeat with the same body gets the stored response.
import { Injectable } from '@nestjs/common';
import { invariant, conflict } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { allocateIds } from '../ledger/ledger.queries.js';
import { Modes } from '../modes/modes.service.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import { emptyCharge } from './charge-parts.js';
import { findCharge, type ChargeRow } from './charges.queries.js';
import { OverdueCharges } from './overdue-charges.service.js';

/** The fields that a type of charge sets; all others are null. */
export type NewCharge = Pick<ChargeRow, 'type' | 'status' | 'amountCents'> &
  Partial<Omit<ChargeRow, 'answer' | 'bodyHash' | 'correlationId'>>;

export interface ChargeIdentity {
  correlationId: string;
  bodyHash: string;
}

@Injectable()
export class ChargeIssuance {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly overdue: OverdueCharges,
  ) {}

  /**
   * Issues a charge and returns the JSON text of its response. `make` receives the charge's number.
   * Throws `conflict` when the correlationId was used with a different body.
   */
  async issueOnce(
    tx: SandboxTx,
    account: SandboxAccount,
    identity: ChargeIdentity,
    make: (id: bigint) => NewCharge,
    buildResponse: (charge: Omit<ChargeRow, 'answer'>) => string | Promise<string>,
  ): Promise<string> {
    const earlier = await this.findStoredResponse(tx, account, identity);
    if (earlier !== null) return earlier;
    const [id] = await allocateIds(tx, 'charge', 1);
    invariant(id, 'one id is allocated');
    const now = this.clock.now();
    const times = { createdAt: now, updatedAt: now };
    const charge = {
      ...emptyCharge,
      ...times,
      ...identity,
      ...make(id),
      id,
      accountId: account.id,
    };
    const answer = await buildResponse(charge);
    const row: ChargeRow = { ...charge, answer };
    // Waits for a concurrent insert of the same correlationId.
    if (await tx.insert('charge', row, 'ON CONFLICT (account_id, correlation_id) DO NOTHING')) {
      await this.overdue.schedule(tx, charge);
      return answer;
    }
    const concurrent = await this.findStoredResponse(tx, account, identity);
    invariant(concurrent !== null, 'a used correlationId has a charge');
    return concurrent;
  }

  /**
   * The stored response, or null when the correlationId is new. Throws `conflict` when the body
   * differs, or when the mode `idempotentRepeat` is not `replay`.
   */
  async findStoredResponse(
    database: Queryable,
    account: SandboxAccount,
    { correlationId, bodyHash }: ChargeIdentity,
  ): Promise<string | null> {
    const earlier = await findCharge(database, { accountId: account.id, correlationId });
    if (!earlier) return null;
    // A correlationId is unique in every mode: when repeats are not replayed, each one is a
    // conflict.
    const isReplayed = this.modes.current.idempotentRepeat === 'replay';
    if (isReplayed && earlier.bodyHash === bodyHash) return earlier.answer;
    throw conflict(
      'correlation_id_reused',
      isReplayed
        ? 'The correlationId was already used with a different body.'
        : 'The correlationId was already used.',
    );
  }
}
