import type { Transaction } from '../../bank-contract/statement.js';
import { amountAndDirection } from '../ledger/movement.js';
import { describeTransactionType, lineForm, type Preset } from '../presets/presets.js';
import type { StatementRow } from './statement.queries.js';

/** A line in the contract's form. */
export function statementLine(row: StatementRow): Transaction {
  const { shownTypeName: name } = row;
  const form = formOf(row);
  const correlationId = form?.hasCorrelationId === false ? null : row.correlationId;
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
    type: { name, description: describeTransactionType(name), isCredit },
    balance: {
      balancePrevious: row.balancePreviousCents,
      currentBalance: row.currentBalanceCents,
    },
    proof: proofOf(row),
  };
}

/** Null where the line is shown whole. */
function formOf({ typeName, preset }: StatementRow) {
  return lineForm(typeName, preset as Preset);
}

/** Fields of a proof that modes show or hide, whatever the preset. */
const idsOfModes: readonly string[] = ['externalId', 'originalEndToEndId'];

/**
 * The stored proof as its preset shows it, with the id of a refund's original and without the ids
 * that a mode hides. Empty for a line without one: the contract's proof is always an object.
 */
function proofOf(row: StatementRow): Record<string, unknown> {
  const shown = formOf(row)?.proof;
  const proof = Object.fromEntries(
    Object.entries(row.proof ?? {}).filter(
      ([name]) => shown === undefined || shown.includes(name) || idsOfModes.includes(name),
    ),
  );
  if (row.hidesExternalId) delete proof.externalId;
  if (row.hidesOriginalId) delete proof.originalEndToEndId;
  else if (row.originalEndToEndId !== null && !proof.originalEndToEndId)
    proof.originalEndToEndId = row.originalEndToEndId;
  return proof;
}
