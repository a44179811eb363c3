import type { BillPayment } from '../../generated/sandbox/client.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

export type BillPaymentStatus = 'SCHEDULED' | 'PAID' | 'SCHEDULE_FAILURE' | 'CHARGEBACKED';

export interface BillPaymentRow extends BillPayment {
  status: BillPaymentStatus;
}

/** The paid or scheduled payment of a bill, or null. The caller has locked the bill. */
export function findActiveBillPayment(
  tx: SandboxTx,
  barCode: string,
): Promise<BillPaymentRow | null> {
  return tx.find(
    `SELECT * FROM bill_payment WHERE bar_code = $1 AND status IN ('SCHEDULED', 'PAID')`,
    [barCode],
  );
}

const maxListed = 1_000;

export interface ListedBillPayment extends BillPaymentRow {
  /** The number of the paying account. */
  account: string;
}

/** At most a thousand payments, newest first: of an account, with an id, or all. */
export function listSandboxBillPayments(
  database: Queryable,
  { account, id }: { account: string | null; id: string | null },
): Promise<ListedBillPayment[]> {
  return database.query(
    `SELECT payment.*, account.number AS account
     FROM bill_payment AS payment JOIN account ON account.id = payment.account_id
     WHERE ($1::text IS NULL OR account.number = $1) AND ($2::uuid IS NULL OR payment.id = $2)
     ORDER BY payment.created_at DESC, payment.id LIMIT ${maxListed}`,
    [account, id],
  );
}
