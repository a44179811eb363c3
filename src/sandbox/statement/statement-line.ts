import type { Transaction } from '../../contract/statement.js';
import { amountAndDirection } from '../ledger/movement.js';
import { describeTransactionType } from '../ledger/transaction-types.js';
import type { StatementRow } from './statement.queries.js';

/** A line in the contract's form. */
export function statementLine(row: StatementRow): Transaction {
  const { correlationId, typeName } = row;
  const { amount, isCredit } = amountAndDirection(row.changeCents);
  const externalId = row.hidesExternalId ? null : row.externalId;
  return {
    id: row.id,
    ...(correlationId === null ? {} : { correlationId }),
    ...(externalId === null ? {} : { externalId }),
    nsu: row.nsu,
    amount,
    notes: row.notes,
    createdAt: row.createdAt.toISOString(),
    type: { name: typeName, description: describeTransactionType(typeName), isCredit },
    balance: {
      balancePrevious: row.balancePreviousCents,
      currentBalance: row.currentBalanceCents,
    },
    proof: proofOf(row),
  };
}

/**
 * The stored proof, with the id of a refund's original and without the ids that a mode hides. Empty
 * for a line without one, such as a fee: the contract's proof is always an object.
 */
function proofOf(row: StatementRow): Record<string, unknown> {
  const proof = { ...row.proof };
  if (row.hidesExternalId) delete proof.externalId;
  if (row.hidesOriginalId) delete proof.originalEndToEndId;
  else if (row.originalEndToEndId !== null && !proof.originalEndToEndId)
    proof.originalEndToEndId = row.originalEndToEndId;
  return proof;
}
