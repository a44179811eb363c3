import type { LockedAccount } from '../ledger/ledger.queries.js';
import { nextNsu } from '../ledger/next-nsu.js';
import type { PlannedLine } from './planned-line.js';

/** The rows of a chunk of lines: one JSON array for each table. */
export interface PlannedRows {
  lines: string;
  charges: string;
  transfers: string;
}

/**
 * Appends lines to an account's chain and changes `end` to the new end of the chain. Whole numbers
 * are written as text.
 */
export function plannedRows(
  planned: readonly PlannedLine[],
  movementIds: readonly bigint[],
  end: LockedAccount,
  order: 'nsu' | 'commit',
): PlannedRows {
  const lines: object[] = [];
  const charges: object[] = [];
  const transfers: object[] = [];
  for (const [index, line] of planned.entries()) {
    const numbered = nextNsu(end, order);
    const balancePrevious = end.balanceCents;
    const { tailNsu } = end;
    end.balanceCents += line.changeCents;
    end.tailNsu = numbered.nsu;
    end.lastNsu = numbered.lastNsu;
    end.skippedNsu = numbered.skippedNsu;
    lines.push(lineRow(line, movementIds[index], { balancePrevious, tailNsu, end }));
    if (line.charge) charges.push(chargeRow(line.charge));
    if (line.transfer) transfers.push(transferRow(line, line.transfer, numbered.nsu));
  }
  return {
    lines: JSON.stringify(lines),
    charges: JSON.stringify(charges),
    transfers: JSON.stringify(transfers),
  };
}

function lineRow(
  line: PlannedLine,
  movementId: bigint | undefined,
  {
    balancePrevious,
    tailNsu,
    end,
  }: { balancePrevious: bigint; tailNsu: bigint | null; end: LockedAccount },
): object {
  return {
    movement_id: String(movementId),
    idempotency_key: line.idempotencyKey,
    internal: line.internal,
    nsu: String(end.tailNsu),
    previous_nsu: tailNsu === null ? null : String(tailNsu),
    id: line.id,
    change_cents: String(line.changeCents),
    balance_previous_cents: String(balancePrevious),
    current_balance_cents: String(end.balanceCents),
    type_name: line.typeName,
    notes: line.notes,
    correlation_id: line.correlationId,
    end_to_end_id: line.endToEndId,
    original_end_to_end_id: line.originalEndToEndId,
    proof: line.proof,
    created_at: line.at,
  };
}

function chargeRow(charge: NonNullable<PlannedLine['charge']>): object {
  return {
    id: String(charge.id),
    correlation_id: charge.correlationId,
    type: charge.type,
    status: charge.status,
    amount_cents: charge.amountCents === null ? null : String(charge.amountCents),
    wallet: charge.wallet,
    our_number: charge.ourNumber,
    your_number: charge.yourNumber,
    due_date: charge.dueDate,
    bar_code: charge.barCode,
    digitable_line: charge.digitableLine,
    payer: charge.payer,
    pix_key: charge.pixKey,
    txid: charge.txid,
    qr_code: charge.qrCode,
    description: charge.description,
    created_at: charge.createdAt,
    updated_at: charge.updatedAt,
  };
}

function transferRow(
  line: PlannedLine,
  transfer: NonNullable<PlannedLine['transfer']>,
  nsu: bigint,
): object {
  return {
    id: transfer.id,
    type: transfer.type,
    amount_cents: String(transfer.amountCents),
    description: transfer.description,
    end_to_end_id: transfer.endToEndId,
    idempotency_key: line.idempotencyKey,
    payer: transfer.payer,
    beneficiary: transfer.beneficiary,
    transaction_nsu: String(nsu),
    created_at: line.at,
  };
}
