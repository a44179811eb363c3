import type { InternalAccount } from '../accounts/fixtures.js';
import type { BankAccount } from '../accounts/party.js';
import type { TransactionTypeName } from './transaction-types.js';

/** The largest balance that the contract's numbers tell: twelve digits of reais. */
export const maxBalanceCents = 90_000_000_000_000n;

/** What a customer's statement says of a movement. */
export interface LineDetails {
  /** One of ours, or any other that a test asked for. */
  typeName: TransactionTypeName | (string & {});
  notes?: string | null;
  correlationId?: string | null;
  externalId?: string | null;
  endToEndId?: string | null;
  originalEndToEndId?: string | null;
  /** Values as they are told: amounts as exact JSON numbers. */
  proof?: object | null;
}

export interface CustomerLeg {
  account: BankAccount;
  changeCents: bigint;
  line: LineDetails;
}

/** One side of a movement; positive credits the account. */
export type Leg = CustomerLeg | { internal: InternalAccount; changeCents: bigint };

export interface LedgerMovement {
  idempotencyKey?: string | null;
  legs: Leg[];
}

/** Money between a customer and the world outside: the customer's leg and its mirror. */
export function outsideMovement(
  account: BankAccount,
  internal: InternalAccount,
  changeCents: bigint,
  line: LineDetails,
): LedgerMovement {
  return {
    legs: [
      { account, changeCents, line },
      { internal, changeCents: -changeCents },
    ],
  };
}

/** A line as it was written. */
export interface PostedLine extends LineDetails {
  accountNumber: string;
  nsu: bigint;
  changeCents: bigint;
  idempotencyKey: string | null;
  createdAt: Date;
}
