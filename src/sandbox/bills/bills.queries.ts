// Finds bills of other institutions, slips that this bank issued, and their payments.
import { rollToBusinessDay, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import {
  columnsWithAdjustments,
  findCharge,
  lockCharge,
  sumChargePayments,
  type ChargeRow,
} from '../charges/charges.queries.js';
import type { BillPayment } from '../../generated/sandbox/client.js';
import type { SandboxAccount } from '../accounts/party.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import { billOfCharge, billOfRow, type Bill, type BillRow } from './bill.js';

/** The current bill of a bar code, or null. */
export async function findBill(database: Queryable, barCode: string): Promise<Bill | null> {
  const row = await database.findRow<BillRow>('bill', { barCode }, columnsWithAdjustments);
  if (row) return billOfRow(row);
  return billOfSlip(database, await findCharge(database, { barCode }));
}

/**
 * The bill with its row, or its charge, locked until the transaction ends: payments and chargebacks
 * of a bill run one at a time. Locked before any account.
 */
export async function lockBill(tx: SandboxTx, barCode: string): Promise<Bill | null> {
  const row = await tx.lockRow<BillRow>('bill', { barCode }, columnsWithAdjustments);
  if (row) return billOfRow(row);
  return billOfSlip(tx, await lockCharge(tx, { barCode }));
}

async function billOfSlip(database: Queryable, charge: ChargeRow | null): Promise<Bill | null> {
  if (!charge) return null;
  const account = await findAccountById(database, charge.accountId);
  invariant(account, 'accounts are never deleted');
  return billOfCharge(charge, account);
}

/** Of one account, of all or of one id; the newest first. */
export function selectBillPayments(
  database: Queryable,
  {
    accountId = null,
    id = null,
    limit,
  }: { accountId?: number | null; id?: string | null; limit: number },
) {
  return database.query<BillPayment & { account: string }>(
    `SELECT bill_payment.*, account.number AS account
     FROM bill_payment JOIN account ON account.id = bill_payment.account_id
     WHERE ($1::int IS NULL OR account_id = $1) AND ($2::uuid IS NULL OR bill_payment.id = $2)
     ORDER BY bill_payment.created_at DESC, bill_payment.id LIMIT $3`,
    [accountId, id, limit],
  );
}

/** Makes the bill payable again, unless another payment remains. */
export async function reopenBill(tx: SandboxTx, bill: Bill, at: Date): Promise<void> {
  const { barCode, issuedSlip } = bill;
  if (!issuedSlip) return tx.update<BillRow>('bill', { barCode }, { status: 'PENDING_PAYMENT' });
  const { charge } = issuedSlip;
  // Another payment may remain, or the issuer may still have the money of this payment.
  if (charge.status === 'Voided' || (await sumChargePayments(tx, charge)) > 0n) return;
  const change = { status: unpaidStatus(charge, saoPauloDay(at)), updatedAt: at };
  await tx.update<ChargeRow>('charge', { id: charge.id }, change);
}

/** The overdue task may have run while the charge was paid, so the due date decides. */
function unpaidStatus({ type, dueDate }: ChargeRow, today: PlainDate): ChargeRow['status'] {
  if (dueDate !== null && today > rollToBusinessDay(dueDate)) return 'Expired';
  return type === 'BANKSLIP' ? 'Pending' : 'Created';
}

export type BillPaymentStatus = 'SCHEDULED' | 'PAID' | 'SCHEDULE_FAILURE' | 'CHARGEBACKED';

export interface BillPaymentRow extends BillPayment {
  status: BillPaymentStatus;
}

/** The paid or scheduled payment of a bill, or null. The caller has locked the bill. */
export function findActiveBillPayment(tx: SandboxTx, barCode: string) {
  return tx.find<BillPaymentRow>(
    `SELECT * FROM bill_payment WHERE bar_code = $1 AND status IN ('SCHEDULED', 'PAID')`,
    [barCode],
  );
}

/** A payment with its bill and its payer. */
export interface PaymentOfBill {
  bill: Bill;
  payment: BillPaymentRow;
  account: SandboxAccount;
}

/** A payment and its bill, locked until the transaction ends: the bill first, then the payment. */
export async function lockPaymentOfBill(tx: SandboxTx, id: string): Promise<PaymentOfBill | null> {
  const stored = await tx.findRow<BillPaymentRow>('bill_payment', { id });
  if (!stored) return null;
  const bill = await lockBill(tx, stored.barCode);
  const payment = await tx.lockRow<BillPaymentRow>('bill_payment', { id });
  const account = await findAccountById(tx, stored.accountId);
  invariant(bill && payment && account, 'bills with payments and payers are never deleted');
  return { bill, payment, account };
}
