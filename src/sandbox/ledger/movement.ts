import type { StatementLine } from '../../generated/sandbox/client.js';
import type { InternalAccount } from '../accounts/fixtures.js';
import type { SandboxAccount } from '../accounts/party.js';
import type { LineType } from '../../bank-contract/line-types.js';
import type { Preset } from '../presets/presets.js';

/** The largest balance. The contract's numbers have at most twelve digits of reais. */
export const maxBalanceCents = 90_000_000_000_000n;

/** The amount that an account can spend: its balance less the blocked part. */
export function availableCents(account: { balanceCents: bigint; blockedCents: bigint }): bigint {
  return account.balanceCents - account.blockedCents;
}

/** The amount is positive and `isCredit` is its sign. */
export function amountAndDirection(changeCents: bigint): { amount: bigint; isCredit: boolean } {
  return { amount: changeCents < 0n ? -changeCents : changeCents, isCredit: changeCents > 0n };
}

/** The fields of a customer's statement line that describe a movement. */
export interface LineDetails {
  /** A type of the bank, or any name that a test chose. */
  typeName: LineType | (string & {});
  notes?: string | null;
  correlationId?: string | null;
  externalId?: string | null;
  endToEndId?: string | null;
  originalEndToEndId?: string | null;
  /** Values as in the response: amounts are exact JSON numbers. */
  proof?: object | null;
  /** Null: by the preset in force. A line that a test writes is shown as the test wrote it. */
  preset?: Preset | null;
}

export interface CustomerLeg {
  account: SandboxAccount;
  changeCents: bigint;
  line: LineDetails;
}

/** One side of a movement. A positive change credits the account. */
export type Leg = CustomerLeg | { internal: InternalAccount; changeCents: bigint };

export interface LedgerMovement {
  idempotencyKey?: string | null;
  legs: Leg[];
}

/** Money between a customer and the outside: the customer's leg and the opposite internal leg. */
export function outsideMovement(
  account: SandboxAccount,
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

/** A written line. */
export interface PostedLine extends Pick<
  StatementLine,
  | ('nsu' | 'changeCents' | 'shownTypeName' | 'createdAt')
  | ('correlationId' | 'externalId' | 'endToEndId' | 'originalEndToEndId')
> {
  accountNumber: string;
  idempotencyKey: string | null;
}
