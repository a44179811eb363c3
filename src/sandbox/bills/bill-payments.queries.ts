import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

export type BillPaymentStatus = 'SCHEDULED' | 'PAID' | 'SCHEDULE_FAILURE' | 'CHARGEBACKED';

export interface BillPaymentRow {
  id: string;
  accountId: number;
  barCode: string;
  status: BillPaymentStatus;
  amountCents: bigint;
  payAt: Date;
  idempotencyKey: string;
  transactionNsu: bigint | null;
  failure: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const columns: Record<keyof BillPaymentRow, string> = {
  id: 'id',
  accountId: 'account_id',
  barCode: 'bar_code',
  status: 'status',
  amountCents: 'amount_cents',
  payAt: 'pay_at',
  idempotencyKey: 'idempotency_key',
  transactionNsu: 'transaction_nsu',
  failure: 'failure',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};
const fields = Object.keys(columns) as (keyof BillPaymentRow)[];
const selected = fields.map((field) => `payment.${columns[field]} AS "${field}"`).join(', ');

/** A second paid or scheduled payment of a bill violates `bill_payment_live_key`. */
export async function insertBillPayment(tx: SandboxTx, payment: BillPaymentRow): Promise<void> {
  await tx.query(
    `INSERT INTO bill_payment (${fields.map((field) => columns[field]).join(', ')})
     VALUES (${fields.map((_, index) => `$${index + 1}`).join(', ')})`,
    fields.map((field) => payment[field]),
  );
}

export async function findBillPayment(
  database: Queryable,
  id: string,
): Promise<BillPaymentRow | null> {
  const [row] = await database.query<BillPaymentRow>(
    `SELECT ${selected} FROM bill_payment AS payment WHERE id = $1`,
    [id],
  );
  return row ?? null;
}

/** Locked until the transaction ends. The caller locks the bill first. */
export async function lockBillPayment(tx: SandboxTx, id: string): Promise<BillPaymentRow | null> {
  const [row] = await tx.query<BillPaymentRow>(
    `SELECT ${selected} FROM bill_payment AS payment WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  return row ?? null;
}

/** The paid or scheduled payment of a bill, or null. The caller has locked the bill. */
export async function findActiveBillPayment(
  tx: SandboxTx,
  barCode: string,
): Promise<BillPaymentRow | null> {
  const [row] = await tx.query<BillPaymentRow>(
    `SELECT ${selected} FROM bill_payment AS payment
     WHERE bar_code = $1 AND status IN ('SCHEDULED', 'PAID')`,
    [barCode],
  );
  return row ?? null;
}

export async function updateBillPayment(
  tx: SandboxTx,
  id: string,
  change: {
    status: BillPaymentStatus;
    transactionNsu: bigint | null;
    failure: string | null;
    at: Date;
  },
): Promise<void> {
  await tx.query(
    `UPDATE bill_payment SET status = $2, transaction_nsu = $3, failure = $4, updated_at = $5
     WHERE id = $1`,
    [id, change.status, change.transactionNsu, change.failure, change.at],
  );
}

const maxListed = 1_000;

export interface ListedBillPayment extends BillPaymentRow {
  /** The number of the paying account. */
  account: string;
}

/** At most a thousand payments, newest first: of an account, with an id, or all. */
export async function listSandboxBillPayments(
  database: Queryable,
  { account, id }: { account: string | null; id: string | null },
): Promise<ListedBillPayment[]> {
  return database.query<ListedBillPayment>(
    `SELECT ${selected}, account.number AS account
     FROM bill_payment AS payment JOIN account ON account.id = payment.account_id
     WHERE ($1::text IS NULL OR account.number = $1) AND ($2::uuid IS NULL OR payment.id = $2)
     ORDER BY payment.created_at DESC, payment.id LIMIT ${maxListed}`,
    [account, id],
  );
}
