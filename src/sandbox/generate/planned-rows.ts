import type { LockedAccount } from '../ledger/ledger.queries.js';
import { nextNsu } from '../ledger/next-nsu.js';
import { shownTypeName, type TypeNaming } from '../presets/presets.js';
import type { PlannedLine } from './planned-line.js';

/** The rows of a chunk of lines. */
export interface PlannedRows {
  lines: object[];
  charges: object[];
  transfers: object[];
}

/** The modes that decide the form of generated lines. */
export interface GenerationModes extends TypeNaming {
  balanceOrder: 'nsu' | 'commit';
  lineOriginalId: 'present' | 'absent';
}

/** Appends lines to an account's chain and changes `end` to the new end of the chain. */
export function plannedRows(
  planned: readonly PlannedLine[],
  movementIds: readonly bigint[],
  end: LockedAccount,
  { balanceOrder, lineOriginalId, ...naming }: GenerationModes,
): PlannedRows {
  const accountId = end.id;
  const hidesOriginalId = lineOriginalId === 'absent';
  const rows: PlannedRows = { lines: [], charges: [], transfers: [] };
  for (const [index, line] of planned.entries()) {
    const movementId = movementIds[index];
    const { changeCents, idempotencyKey = null, at: createdAt } = line;
    const { nsu, lastNsu, skippedNsu } = nextNsu(end, balanceOrder);
    const { balanceCents: balancePreviousCents, tailNsu: previousNsu } = end;
    const currentBalanceCents = balancePreviousCents + changeCents;
    end.balanceCents = currentBalanceCents;
    end.tailNsu = nsu;
    end.lastNsu = lastNsu;
    end.skippedNsu = skippedNsu;
    // A literal without spreads: generations have millions of lines, and spreads are slow.
    rows.lines.push({
      accountId,
      movementId,
      idempotencyKey,
      internal: line.internal,
      nsu,
      previousNsu,
      id: line.id,
      changeCents,
      balancePreviousCents,
      currentBalanceCents,
      typeName: line.typeName,
      notes: line.notes ?? null,
      correlationId: line.correlationId ?? null,
      endToEndId: line.endToEndId ?? null,
      originalEndToEndId: line.originalEndToEndId ?? null,
      proof: line.proof ?? null,
      createdAt,
      shownTypeName: shownTypeName(line.typeName, naming),
      preset: naming.preset,
      hidesOriginalId,
    });
    // No request created the charge. Its body hash is an empty text, which no request body has, so
    // that no request is a repeat of it.
    if (line.charge) rows.charges.push({ ...line.charge, accountId, bodyHash: '', answer: '{}' });
    if (line.transfer)
      rows.transfers.push({
        ...line.transfer,
        ...{ accountId, status: 'PIX_EFFECTIVE', idempotencyKey, transactionNsu: nsu },
        ...{ createdAt, updatedAt: createdAt },
      });
  }
  return rows;
}
