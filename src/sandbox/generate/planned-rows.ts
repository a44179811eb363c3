import type { LockedAccount } from '../ledger/ledger.queries.js';
import { nextNsu } from '../ledger/next-nsu.js';
import type { PlannedLine } from './planned-line.js';

/** The rows of a chunk of lines by table, in the order in which they can be inserted. */
export interface PlannedRows {
  movement: object[];
  entry: object[];
  statement_line: object[];
  charge: object[];
  transfer: object[];
}

export interface RowSettings {
  /** The ids of the bank's own accounts by their numbers. */
  internalIds: ReadonlyMap<string, number>;
  order: 'nsu' | 'commit';
  hidesOriginalId: boolean;
}

/** Appends lines to an account's chain and changes `end` to the new end of the chain. */
export function plannedRows(
  planned: readonly PlannedLine[],
  movementIds: readonly bigint[],
  end: LockedAccount,
  { internalIds, order, hidesOriginalId }: RowSettings,
): PlannedRows {
  const accountId = end.id;
  const rows: PlannedRows = {
    movement: [],
    entry: [],
    statement_line: [],
    charge: [],
    transfer: [],
  };
  for (const [index, line] of planned.entries()) {
    const movementId = movementIds[index];
    const { changeCents, idempotencyKey = null, at: createdAt } = line;
    const { nsu, lastNsu, skippedNsu } = nextNsu(end, order);
    const { balanceCents: balancePreviousCents, tailNsu: previousNsu } = end;
    const currentBalanceCents = balancePreviousCents + changeCents;
    Object.assign(end, { balanceCents: currentBalanceCents, tailNsu: nsu, lastNsu, skippedNsu });
    rows.movement.push({ id: movementId, kind: 'ordinary', idempotencyKey, createdAt });
    rows.entry.push(
      { movementId, accountId, changeCents },
      { movementId, accountId: internalIds.get(line.internal), changeCents: -changeCents },
    );
    rows.statement_line.push({
      ...{ accountId, nsu, previousNsu, id: line.id, movementId },
      ...{ changeCents, balancePreviousCents, currentBalanceCents },
      typeName: line.typeName,
      notes: line.notes ?? null,
      correlationId: line.correlationId ?? null,
      endToEndId: line.endToEndId ?? null,
      originalEndToEndId: line.originalEndToEndId ?? null,
      proof: line.proof ?? null,
      ...{ createdAt, hidesOriginalId },
    });
    // No request created the charge. Its body hash is an empty text, which no request body has, so
    // that no request is a repeat of it.
    if (line.charge) rows.charge.push({ ...line.charge, accountId, bodyHash: '', answer: '{}' });
    if (line.transfer)
      rows.transfer.push({
        ...line.transfer,
        ...{ accountId, status: 'PIX_EFFECTIVE', idempotencyKey, transactionNsu: nsu },
        ...{ createdAt, updatedAt: createdAt },
      });
  }
  return rows;
}
