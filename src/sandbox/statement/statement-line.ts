import type { Transaction } from '../../contract/statement.js';
import { parseJson } from '../../platform/exact-json.js';
import { describeTransactionType } from '../ledger/transaction-types.js';
import type { StatementRow } from './statement.queries.js';

/** A line in the contract's form: the amount is positive and `isCredit` is its sign. */
export function statementLine(row: StatementRow): Transaction {
  const isCredit = row.change_cents > 0n;
  const externalId = row.hides_external_id ? null : row.external_id;
  return {
    id: row.id,
    ...(row.correlation_id === null ? {} : { correlationId: row.correlation_id }),
    ...(externalId === null ? {} : { externalId }),
    nsu: row.nsu,
    amount: isCredit ? row.change_cents : -row.change_cents,
    notes: row.notes,
    createdAt: row.created_at.toISOString(),
    type: { name: row.type_name, description: describeTransactionType(row.type_name), isCredit },
    balance: {
      balancePrevious: row.balance_previous_cents,
      currentBalance: row.current_balance_cents,
    },
    proof: proofOf(row),
  };
}

/** The stored proof, with the id of a refund's original and without the ids that a mode hides. */
function proofOf(row: StatementRow): Record<string, unknown> | null {
  if (row.proof === null) return null;
  const proof = parseJson(row.proof) as Record<string, unknown>;
  if (row.hides_external_id) delete proof.externalId;
  if (row.hides_original_id) delete proof.originalEndToEndId;
  else if (row.original_end_to_end_id !== null && !proof.originalEndToEndId)
    proof.originalEndToEndId = row.original_end_to_end_id;
  return proof;
}
