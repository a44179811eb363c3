import type { InternalAccount } from '../accounts/fixtures.js';
import type { LineDetails } from '../ledger/movement.js';
import type { BankAccount, Party } from '../accounts/party.js';
import type { TransactionTypeName } from '../ledger/transaction-types.js';
import type { ChargeRow } from '../charges/charges.queries.js';
import type { Person } from './people.js';
import type { SeededRandom } from './seeded-random.js';

type WrittenFields =
  | ('id' | 'correlationId' | 'type' | 'status' | 'amountCents' | 'wallet' | 'ourNumber')
  | ('yourNumber' | 'dueDate' | 'barCode' | 'digitableLine' | 'pixKey' | 'txid' | 'qrCode')
  | ('description' | 'createdAt' | 'updatedAt');

/** A charge that is issued and paid. */
export interface PlannedCharge extends Pick<ChargeRow, WrittenFields> {
  payer: Person | null;
}

/** A Pix that was sent and is effective. */
export interface PlannedTransfer {
  id: string;
  type: 'PIX_KEY' | 'PIX_MANUAL';
  amountCents: bigint;
  description: string;
  endToEndId: string;
  payer: Party;
  beneficiary: Party;
}

/** A line with what it is of. */
export interface PlannedLine extends LineDetails {
  typeName: TransactionTypeName;
  id: string;
  /** Positive: credited. */
  changeCents: bigint;
  /** The account of the bank's own that bears the other side. */
  internal: InternalAccount;
  at: Date;
  idempotencyKey: string | null;
  charge: PlannedCharge | null;
  transfer: PlannedTransfer | null;
}

/** What a line is made of: whose it is, when, for how much, and the lot. */
export interface LineMaking {
  account: BankAccount;
  pixKey: string;
  random: SeededRandom;
  takeChargeId: () => bigint;
  amountCents: bigint;
  at: Date;
}

/** Cents as a JSON number; exact, since what is generated is far below the limits of a float. */
export function plainReais(cents: bigint): number {
  return Number(cents) / 100;
}
