import {
  outsideParty,
  partyOfAccount,
  type Party,
  type SandboxAccount,
} from '../accounts/party.js';
import type { TransferEvent } from '../transfers/transfer-bodies.js';
import { wireReais } from '../wire-values.js';

export interface ArbitraryLine {
  typeName: string;
  notes: string | null;
  endToEndId: string | null;
  amountCents: bigint;
  isCredit: boolean;
}

/** The webhook that the bank sends of a TED, by the type of its line. */
export const tedEvents: ReadonlyMap<string, TransferEvent> = new Map([
  ['DEBIT_TRANSFER_EXTERNAL', 'TRANSFER_EXTERNAL_DEBITED'],
  ['CREDIT_TRANSFER_EXTERNAL', 'TRANSFER_EXTERNAL_CREDITED'],
]);

/** Who paid a line, and who received it. */
export function partiesOfLine(
  isCredit: boolean,
  account: SandboxAccount,
  counterparty: SandboxAccount | null,
): { payer: Party; beneficiary: Party } {
  const own = partyOfAccount(account);
  const other = counterparty ? partyOfAccount(counterparty) : outsideParty({});
  return isCredit ? { payer: other, beneficiary: own } : { payer: own, beneficiary: other };
}

/**
 * A plausible proof for a line that a test posts: of a TED (real-bank.md A.8), or of a Pix when
 * there is an endToEndId. A line shows its endToEndId only in the proof. Null for lines without
 * proof, such as a fee.
 */
export function proofOfArbitraryLine(
  { typeName, notes: description, endToEndId, amountCents }: ArbitraryLine,
  { id, ...parties }: { id: string; payer: Party; beneficiary: Party },
): object | null {
  const common = { amount: wireReais(amountCents), description, ...parties };
  if (endToEndId !== null)
    return { endToEndId, status: 'PIX_EFFECTIVE', type: 'PIX_MANUAL', ...common };
  return tedEvents.has(typeName) ? { id, status: 'EFFECTIVE', type: 'EXTERNAL', ...common } : null;
}
