import type { PlainDate } from '../../brazil/calendar.js';
import type { ChargeRequest } from '../../contract/charges.js';
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

const selectCharges = 'SELECT *, adjustments::text FROM charge';

/** The next free charge number. Failed charges leave gaps in the numbers. */
export async function nextChargeId(tx: SandboxTx): Promise<bigint> {
  const [row] = await tx.query<{ id: bigint }>(
    `SELECT nextval(pg_get_serial_sequence('charge', 'id')) AS id`,
  );
  return row!.id;
}

export function findCharge(
  database: Queryable,
  accountId: number,
  correlationId: string,
): Promise<ChargeRow | null> {
  return database.find(`${selectCharges} WHERE account_id = $1 AND correlation_id = $2`, [
    accountId,
    correlationId,
  ]);
}

/**
 * Locked until the transaction ends: payments, voids and expiries of a charge run one at a time.
 */
export function lockCharge(
  tx: SandboxTx,
  accountId: number,
  correlationId: string,
): Promise<ChargeRow | null> {
  return tx.find(
    `${selectCharges} WHERE account_id = $1 AND correlation_id = $2 FOR NO KEY UPDATE`,
    [accountId, correlationId],
  );
}

/** Like `lockCharge`, by id, for due tasks. */
export function lockChargeById(tx: SandboxTx, id: bigint): Promise<ChargeRow | null> {
  return tx.find(`${selectCharges} WHERE id = $1 FOR NO KEY UPDATE`, [id]);
}

export function findChargeByBarCode(
  database: Queryable,
  barCode: string,
): Promise<ChargeRow | null> {
  return database.find(`${selectCharges} WHERE bar_code = $1`, [barCode]);
}

/** Like `lockCharge`, by bar code, for payments of bills. */
export function lockChargeByBarCode(tx: SandboxTx, barCode: string): Promise<ChargeRow | null> {
  return tx.find(`${selectCharges} WHERE bar_code = $1 FOR NO KEY UPDATE`, [barCode]);
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
    `${selectCharges}
     WHERE account_id = $1 AND created_at >= coalesce($2::timestamptz, '-infinity')
       AND created_at < coalesce($3::timestamptz, 'infinity')
     ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`,
    [accountId, from, until, limit, offset],
  );
}

export async function findCorrelationIdByTxid(
  database: Queryable,
  accountId: number,
  txid: string,
): Promise<string | null> {
  const charge = await database.find<{ correlationId: string }>(
    `SELECT correlation_id FROM charge WHERE account_id = $1 AND txid = $2 LIMIT 1`,
    [accountId, txid],
  );
  return charge?.correlationId ?? null;
}

export function updateCharge(
  tx: SandboxTx,
  { id }: Pick<ChargeRow, 'id'>,
  changes: Partial<ChargeRow>,
): Promise<void> {
  return tx.update<ChargeRow>('charge', { id }, changes);
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
