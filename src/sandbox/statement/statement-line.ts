import type { Transaction } from '../../contract/statement.js';
import { parseJson } from '../../platform/exact-json.js';
import { describeTransactionType } from '../ledger/transaction-types.js';
import type { StatementRow } from './statement.queries.js';

/** A line as the contract tells it: the amount is positive, `isCredit` is its sign. */
export function statementLine(row: StatementRow): Transaction {
  const isCredit = row.change_cents > 0n;
  return {
    id: row.id,
    ...(row.correlation_id === null ? {} : { correlationId: row.correlation_id }),
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    nsu: row.nsu,
    amount: isCredit ? row.change_cents : -row.change_cents,
    notes: row.notes,
    createdAt: row.created_at.toISOString(),
    type: { name: row.type_name, description: describeTransactionType(row.type_name), isCredit },
    balance: {
      balancePrevious: row.balance_previous_cents,
      currentBalance: row.current_balance_cents,
    },
    proof: row.proof === null ? null : (parseJson(row.proof) as Record<string, unknown>),
  };
}
