// Finds bills of other institutions and slips that this bank issued, and updates their status.
import { rollToBusinessDay, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import {
  findChargeByBarCode,
  lockChargeByBarCode,
  sumChargePayments,
  updateCharge,
  type ChargeRow,
} from '../charges/charges.queries.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import { billOfCharge, billOfRow, type Bill, type BillRow } from './bill.js';

const selectBill = 'SELECT *, adjustments::text FROM bill WHERE bar_code = $1';

/** The current bill of a bar code, or null. */
export async function findBill(database: Queryable, barCode: string): Promise<Bill | null> {
  const row = await database.find<BillRow>(selectBill, [barCode]);
  if (row) return billOfRow(row);
  return billOfSlip(database, await findChargeByBarCode(database, barCode));
}

/**
 * The bill with its row, or its charge, locked until the transaction ends: payments and chargebacks
 * of a bill run one at a time. Locked before any account.
 */
export async function lockBill(tx: SandboxTx, barCode: string): Promise<Bill | null> {
  const row = await tx.find<BillRow>(`${selectBill} FOR NO KEY UPDATE`, [barCode]);
  if (row) return billOfRow(row);
  return billOfSlip(tx, await lockChargeByBarCode(tx, barCode));
}

async function billOfSlip(database: Queryable, charge: ChargeRow | null): Promise<Bill | null> {
  if (!charge) return null;
  const account = await findAccountById(database, charge.accountId);
  invariant(account, 'accounts are never deleted');
  return billOfCharge(charge, account);
}

/** For a bill of another institution. The charge of a slip of this bank has its own status. */
export function updateBillStatus(
  tx: SandboxTx,
  { barCode }: Bill,
  status: BillRow['status'],
): Promise<void> {
  return tx.update<BillRow>('bill', { barCode }, { status });
}

/** Makes the bill payable again, unless another payment remains. */
export async function reopenBill(tx: SandboxTx, bill: Bill, at: Date): Promise<void> {
  if (!bill.issuedSlip) return updateBillStatus(tx, bill, 'PENDING_PAYMENT');
  const { charge } = bill.issuedSlip;
  // Another payment may remain, or the issuer may still have the money of this payment.
  if (charge.status === 'Voided' || (await sumChargePayments(tx, charge)) > 0n) return;
  await updateCharge(tx, charge, { status: unpaidStatus(charge, saoPauloDay(at)), updatedAt: at });
}

/**
 * The overdue task of the charge may have run while the charge was paid, so the due date decides.
 */
function unpaidStatus({ type, dueDate }: ChargeRow, today: PlainDate): ChargeRow['status'] {
  if (dueDate !== null && today > rollToBusinessDay(dueDate)) return 'Expired';
  return type === 'BANKSLIP' ? 'Pending' : 'Created';
}
