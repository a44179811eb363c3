import type { InternalAccount } from '../accounts/fixtures.js';
import type { LineDetails } from '../ledger/movement.js';
import type { SandboxAccount } from '../accounts/party.js';
import type { LineType } from '../../bank-contract/line-types.js';
import type { ChargeRow } from '../charges/charges.queries.js';
import type { Transfer } from '../transfers/transfer.js';
import type { Person } from './people.js';
import type { SeededRandom } from './seeded-random.js';

/** An issued and paid charge. */
export interface PlannedCharge extends Omit<
  ChargeRow,
  'accountId' | 'payer' | 'bodyHash' | 'answer'
> {
  payer: Person | null;
}

/** A sent and effective Pix. */
export type PlannedTransfer = Pick<
  Transfer,
  'id' | 'type' | 'amountCents' | 'description' | 'endToEndId' | 'payer' | 'beneficiary'
>;

/** A line with its charge or transfer. */
export interface PlannedLine extends LineDetails {
  typeName: LineType;
  id: string;
  /** A positive change is a credit. */
  changeCents: bigint;
  /** The bank's own account that the movement changes too. */
  internal: InternalAccount;
  at: Date;
  idempotencyKey?: string;
  charge?: PlannedCharge;
  transfer?: PlannedTransfer;
}

/** The inputs of a line: the account, the amount, the time and the source of random values. */
export interface LineInputs {
  account: SandboxAccount;
  pixKey: string;
  random: SeededRandom;
  nextChargeId: () => bigint;
  amountCents: bigint;
  at: Date;
}

/** Cents as a JSON number. Generated amounts are small enough for a float to be exact. */
export function plainReais(cents: bigint): number {
  return Number(cents) / 100;
}
