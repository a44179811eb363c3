import type { PlainDate } from '../../brazil/calendar.js';
import type { ChargeRequest } from '../../bank-contract/charges.js';
import type { Charge, StatementLine } from '../../generated/sandbox/client.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

/** The bank's own status names. Responses use the names of the mode `chargeStatus`. */
export type ChargeStatus = 'Pending' | 'Created' | 'Paid' | 'Expired' | 'Voided';

export interface ChargeRow extends Omit<
  Charge,
  'dueDate' | 'payer' | 'finalBeneficiary' | 'adjustments'
> {
  type: 'BANKSLIP' | 'BANKSLIP_PIX' | 'PIX_STATIC';
  status: ChargeStatus;
  dueDate: PlainDate | null;
  /** As sent, with exact numbers. */
  payer: ChargeRequest['payer'] | null;
  finalBeneficiary: object | null;
  /** Read by `parseAdjustments`. */
  adjustments: string | null;
}

/** The adjustments as text, which `parseAdjustments` reads. */
export const columnsWithAdjustments = '*, adjustments::text';

export type ChargeKey =
  Pick<ChargeRow, 'accountId' | 'correlationId'> | Pick<ChargeRow, 'id'> | { barCode: string };

export function findCharge(database: Queryable, key: ChargeKey): Promise<ChargeRow | null> {
  return database.findRow<ChargeRow>('charge', key, columnsWithAdjustments);
}

/** The static QR code with this txid or correlationId. */
export function findStaticQr(database: Queryable, accountId: number, identifier: string) {
  return database.find<ChargeRow>(
    `SELECT ${columnsWithAdjustments} FROM charge
     WHERE account_id = $1 AND type = 'PIX_STATIC' AND (txid = $2 OR correlation_id = $2)
     ORDER BY (correlation_id = $2) DESC LIMIT 1`,
    [accountId, identifier],
  );
}

/** Locked until the transaction ends: payments, voids and expiries run one at a time. */
export function lockCharge(tx: SandboxTx, key: ChargeKey): Promise<ChargeRow | null> {
  return tx.lockRow<ChargeRow>('charge', key, columnsWithAdjustments);
}

export interface ChargeFilter {
  accountId: number;
  /** Inclusive. */
  from: Date | null;
  /** Exclusive. */
  until: Date | null;
  offset: bigint;
  limit: number;
}

/** A page of the account's charges, newest first. */
export function listIssuedCharges(
  database: Queryable,
  { accountId, from, until, offset, limit }: ChargeFilter,
): Promise<ChargeRow[]> {
  return database.query(
    `SELECT ${columnsWithAdjustments} FROM charge
     WHERE account_id = $1 AND created_at >= coalesce($2::timestamptz, '-infinity')
       AND created_at < coalesce($3::timestamptz, 'infinity')
     ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`,
    [accountId, from, until, limit, offset],
  );
}

/** The payments of a charge less their reversals, in cents. */
export async function sumChargePayments(
  tx: SandboxTx,
  { accountId, correlationId }: Pick<ChargeRow, 'accountId' | 'correlationId'>,
): Promise<bigint> {
  const [row] = await tx.query<{ paid: bigint }>(
    `SELECT coalesce(sum(change_cents), 0)::bigint AS paid FROM statement_line
     WHERE account_id = $1 AND correlation_id = $2`,
    [accountId, correlationId],
  );
  return row!.paid;
}

export type ChargePaymentRow = Pick<
  StatementLine,
  'correlationId' | 'nsu' | 'changeCents' | 'endToEndId' | 'createdAt'
>;

/** The credits of charges, newest first. */
export function listChargePayments(
  database: Queryable,
  accountId: number,
  correlationIds: string[],
): Promise<ChargePaymentRow[]> {
  return database.query(
    `SELECT correlation_id, nsu, change_cents, end_to_end_id, created_at FROM statement_line
     WHERE account_id = $1 AND correlation_id = ANY ($2::text[]) AND change_cents > 0
     ORDER BY nsu DESC`,
    [accountId, correlationIds],
  );
}
