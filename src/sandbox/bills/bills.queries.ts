import type { BillStatus } from '../accounts/fixtures.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import type { BillRow } from './bill.js';

const columns: Record<keyof BillRow, string> = {
  barCode: 'bar_code',
  digitableLine: 'digitable_line',
  type: 'type',
  status: 'status',
  amountCents: 'amount_cents',
  dueDate: 'due_date',
  isAllowPartialPayment: 'is_allow_partial_payment',
  minimumPaymentCents: 'minimum_payment_cents',
  maximumPaymentCents: 'maximum_payment_cents',
  identifierNumber: 'identifier_number',
  rebateCents: 'rebate_cents',
  adjustments: 'adjustments',
  parties: 'parties',
};
const fields = Object.keys(columns) as (keyof BillRow)[];
const jsonFields = new Set<keyof BillRow>(['adjustments', 'parties']);
const selected = fields
  .map((field) => `${columns[field]}${jsonFields.has(field) ? '::text' : ''} AS "${field}"`)
  .join(', ');

export async function findBill(database: Queryable, barCode: string): Promise<BillRow | null> {
  const [row] = await database.query<BillRow>(`SELECT ${selected} FROM bill WHERE bar_code = $1`, [
    barCode,
  ]);
  return row ?? null;
}

/** Locked until the transaction ends: payments and chargebacks of a bill run one at a time. */
export async function lockBill(tx: SandboxTx, barCode: string): Promise<BillRow | null> {
  const [row] = await tx.query<BillRow>(
    `SELECT ${selected} FROM bill WHERE bar_code = $1 FOR NO KEY UPDATE`,
    [barCode],
  );
  return row ?? null;
}

/** False when the code exists. */
export async function insertBill(tx: SandboxTx, bill: BillRow): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO bill (${fields.map((field) => columns[field]).join(', ')})
     VALUES (${fields.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT DO NOTHING RETURNING bar_code`,
    fields.map((field) => bill[field]),
  );
  return rows.length > 0;
}

export async function updateBillStatus(
  tx: SandboxTx,
  barCode: string,
  status: BillStatus,
): Promise<void> {
  await tx.query('UPDATE bill SET status = $2 WHERE bar_code = $1', [barCode, status]);
}

/** Account and correlationId of the charge with this bar code, or null. Both never change. */
export async function findIssuedCharge(
  database: Queryable,
  barCode: string,
): Promise<{ accountId: number; correlationId: string } | null> {
  const [row] = await database.query<{ accountId: number; correlationId: string }>(
    `SELECT account_id AS "accountId", correlation_id AS "correlationId"
     FROM charge WHERE bar_code = $1`,
    [barCode],
  );
  return row ?? null;
}
