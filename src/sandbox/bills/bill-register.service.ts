// Finds bills of other institutions and slips that this bank issued, and updates their status.
import { Injectable } from '@nestjs/common';
import { rollToBusinessDay, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import {
  findCharge,
  lockCharge,
  sumChargePayments,
  updateCharge,
} from '../charges/charges.queries.js';
import type { ChargeRow } from '../charges/charges.queries.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import { billOfCharge, billOfRow, type Bill } from './bill.js';
import { findBill, findIssuedCharge, lockBill, updateBillStatus } from './bills.queries.js';

@Injectable()
export class BillRegister {
  /** The current bill of a bar code, or null. */
  async find(database: Queryable, barCode: string): Promise<Bill | null> {
    const row = await findBill(database, barCode);
    return row
      ? billOfRow(row)
      : this.findIssuedSlip(database, barCode, (accountId, correlationId) =>
          findCharge(database, accountId, correlationId),
        );
  }

  /**
   * The bill with its row, or its charge, locked until the transaction ends. Locked before any
   * account.
   */
  async lock(tx: SandboxTx, barCode: string): Promise<Bill | null> {
    const row = await lockBill(tx, barCode);
    return row
      ? billOfRow(row)
      : this.findIssuedSlip(tx, barCode, (accountId, correlationId) =>
          lockCharge(tx, accountId, correlationId),
        );
  }

  /**
   * Marks a bill of another institution as paid. A slip of this bank is marked when it is credited.
   */
  async markPaid(tx: SandboxTx, bill: Bill): Promise<void> {
    if (!bill.issuedSlip) await updateBillStatus(tx, bill.barCode, 'PAID');
  }

  /** Makes the bill payable again, unless another payment remains. */
  async reopen(tx: SandboxTx, bill: Bill, at: Date): Promise<void> {
    if (!bill.issuedSlip) return updateBillStatus(tx, bill.barCode, 'PENDING_PAYMENT');
    const { charge } = bill.issuedSlip;
    // Another payment may remain, or the issuer may still have the money of this payment.
    if (charge.status === 'Voided' || (await sumChargePayments(tx, charge)) > 0n) return;
    const { id, dueDate } = charge;
    await updateCharge(tx, id, { status: unpaidStatus(charge, saoPauloDay(at)), dueDate, at });
  }

  private async findIssuedSlip(
    database: Queryable,
    barCode: string,
    read: (accountId: number, correlationId: string) => Promise<ChargeRow | null>,
  ): Promise<Bill | null> {
    const issued = await findIssuedCharge(database, barCode);
    if (!issued) return null;
    const charge = await read(issued.accountId, issued.correlationId);
    const account = await findAccountById(database, issued.accountId);
    invariant(charge && account, 'charges and accounts are never deleted');
    return billOfCharge(charge, account);
  }
}

/**
 * The overdue task of the charge may have run while the charge was paid, so the due date decides.
 */
function unpaidStatus({ type, dueDate }: ChargeRow, today: PlainDate): ChargeRow['status'] {
  if (dueDate !== null && today > rollToBusinessDay(dueDate)) return 'Expired';
  return type === 'BANKSLIP' ? 'Pending' : 'Created';
}
