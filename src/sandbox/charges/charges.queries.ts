import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

/** The bank's own status names. Responses use the names of the mode `chargeStatus`. */
export type ChargeStatus = 'Pending' | 'Created' | 'Paid' | 'Expired' | 'Voided';

export interface ChargeRow {
  id: bigint;
  accountId: number;
  correlationId: string;
  type: 'BANKSLIP' | 'BANKSLIP_PIX' | 'PIX_STATIC';
  status: ChargeStatus;
  amountCents: bigint | null;
  wallet: number | null;
  ourNumber: string | null;
  yourNumber: string | null;
  dueDate: string | null;
  barCode: string | null;
  digitableLine: string | null;
  /** JSON texts. */
  payer: string | null;
  finalBeneficiary: string | null;
  adjustments: string | null;
  pixKey: string | null;
  txid: string | null;
  qrCode: string | null;
  description: string | null;
  additionalInformation: string | null;
  bodyHash: string;
  /** The JSON text of the creation's response. */
  response: string;
  createdAt: Date;
  updatedAt: Date;
}

const columns: Record<keyof ChargeRow, string> = {
  id: 'id',
  accountId: 'account_id',
  correlationId: 'correlation_id',
  type: 'type',
  status: 'status',
  amountCents: 'amount_cents',
  wallet: 'wallet',
  ourNumber: 'our_number',
  yourNumber: 'your_number',
  dueDate: 'due_date',
  barCode: 'bar_code',
  digitableLine: 'digitable_line',
  payer: 'payer',
  finalBeneficiary: 'final_beneficiary',
  adjustments: 'adjustments',
  pixKey: 'pix_key',
  txid: 'txid',
  qrCode: 'qr_code',
  description: 'description',
  additionalInformation: 'additional_information',
  bodyHash: 'body_hash',
  response: 'answer',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};
const fields = Object.keys(columns) as (keyof ChargeRow)[];
const jsonFields = new Set<keyof ChargeRow>(['payer', 'finalBeneficiary', 'adjustments']);
const selected = fields
  .map((field) => `${columns[field]}${jsonFields.has(field) ? '::text' : ''} AS "${field}"`)
  .join(', ');

/** The next free charge number. Failed charges leave gaps in the numbers. */
export async function nextChargeId(tx: SandboxTx): Promise<bigint> {
  const [row] = await tx.query<{ id: bigint }>(
    `SELECT nextval(pg_get_serial_sequence('charge', 'id')) AS id`,
  );
  return row!.id;
}

/**
 * False when the account has a charge with this correlationId. Waits for a concurrent insert of it.
 */
export async function insertCharge(tx: SandboxTx, charge: ChargeRow): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO charge (${fields.map((field) => columns[field]).join(', ')})
     VALUES (${fields.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (account_id, correlation_id) DO NOTHING RETURNING id`,
    fields.map((field) => charge[field]),
  );
  return rows.length > 0;
}

export async function findCharge(
  database: Queryable,
  accountId: number,
  correlationId: string,
): Promise<ChargeRow | null> {
  const [row] = await database.query<ChargeRow>(
    `SELECT ${selected} FROM charge WHERE account_id = $1 AND correlation_id = $2`,
    [accountId, correlationId],
  );
  return row ?? null;
}

/**
 * Locked until the transaction ends: payments, voids and expiries of a charge run one at a time.
 */
export async function lockCharge(
  tx: SandboxTx,
  accountId: number,
  correlationId: string,
): Promise<ChargeRow | null> {
  const [row] = await tx.query<ChargeRow>(
    `SELECT ${selected} FROM charge WHERE account_id = $1 AND correlation_id = $2
     FOR NO KEY UPDATE`,
    [accountId, correlationId],
  );
  return row ?? null;
}

/** Like `lockCharge`, by id, for due tasks. */
export async function lockChargeById(tx: SandboxTx, id: bigint): Promise<ChargeRow | null> {
  const [row] = await tx.query<ChargeRow>(
    `SELECT ${selected} FROM charge WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  return row ?? null;
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
export async function listIssuedCharges(
  database: Queryable,
  { accountId, from, until, offset, limit }: ChargeFilter,
): Promise<ChargeRow[]> {
  return database.query<ChargeRow>(
    `SELECT ${selected} FROM charge
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
  const [row] = await database.query<{ correlation_id: string }>(
    `SELECT correlation_id FROM charge WHERE account_id = $1 AND txid = $2 LIMIT 1`,
    [accountId, txid],
  );
  return row?.correlation_id ?? null;
}

export async function updateCharge(
  tx: SandboxTx,
  id: bigint,
  change: { status: ChargeStatus; dueDate: string | null; at: Date },
): Promise<void> {
  await tx.query(`UPDATE charge SET status = $2, due_date = $3, updated_at = $4 WHERE id = $1`, [
    id,
    change.status,
    change.dueDate,
    change.at,
  ]);
}

export interface ChargePaymentRow {
  correlation_id: string;
  nsu: bigint;
  change_cents: bigint;
  end_to_end_id: string | null;
  created_at: Date;
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

/** The credits of charges, newest first. */
export async function listChargePayments(
  database: Queryable,
  accountId: number,
  correlationIds: string[],
): Promise<ChargePaymentRow[]> {
  return database.query<ChargePaymentRow>(
    `SELECT correlation_id, nsu, change_cents, end_to_end_id, created_at FROM statement_line
     WHERE account_id = $1 AND correlation_id = ANY ($2::text[]) AND change_cents > 0
     ORDER BY nsu DESC`,
    [accountId, correlationIds],
  );
}
