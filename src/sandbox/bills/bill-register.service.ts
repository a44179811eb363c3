// Finds bills, those of other institutions and the slips that this bank issued, and moves their state.
import { Injectable } from '@nestjs/common';
import { rollToBusinessDay, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { invariant } from '../../platform/errors.js';
import { findAccountById } from '../accounts/accounts.queries.js';
import { findCharge, lockCharge, sumPaid, updateCharge } from '../charges/charges.queries.js';
import type { ChargeRow } from '../charges/charges.queries.js';
import type { Queryable, Tx } from '../sandbox-database.service.js';
import { billOfCharge, billOfRow, type Bill } from './bill.js';
import { findBill, findIssued, lockBill, updateBillStatus } from './bills.queries.js';

@Injectable()
export class BillRegister {
  /** The bill of a bar code as it stands, or null. */
  async find(database: Queryable, barCode: string): Promise<Bill | null> {
    const row = await findBill(database, barCode);
    return row
      ? billOfRow(row)
      : this.issued(database, barCode, (accountId, correlationId) =>
          findCharge(database, accountId, correlationId),
        );
  }

  /** The bill, its row or its charge's locked until the transaction ends: before any account is. */
  async lock(tx: Tx, barCode: string): Promise<Bill | null> {
    const row = await lockBill(tx, barCode);
    return row
      ? billOfRow(row)
      : this.issued(tx, barCode, (accountId, correlationId) =>
          lockCharge(tx, accountId, correlationId),
        );
  }

  /** A bill of another institution is paid; of a charge that is told with its credit. */
  async markPaid(tx: Tx, bill: Bill): Promise<void> {
    if (!bill.issued) await updateBillStatus(tx, bill.barCode, 'PAID');
  }

  /** It can be paid again, unless something else pays it. */
  async reopen(tx: Tx, bill: Bill, at: Date): Promise<void> {
    if (!bill.issued) return updateBillStatus(tx, bill.barCode, 'PENDING_PAYMENT');
    const { charge } = bill.issued;
    // Another payment may stand, or this one's money may have stayed with the issuer.
    if (charge.status === 'Voided' || (await sumPaid(tx, charge)) > 0n) return;
    const { id, dueDate } = charge;
    await updateCharge(tx, id, { status: unpaidStatus(charge, saoPauloDay(at)), dueDate, at });
  }

  private async issued(
    database: Queryable,
    barCode: string,
    read: (accountId: number, correlationId: string) => Promise<ChargeRow | null>,
  ): Promise<Bill | null> {
    const known = await findIssued(database, barCode);
    if (!known) return null;
    const charge = await read(known.accountId, known.correlationId);
    const account = await findAccountById(database, known.accountId);
    invariant(charge && account, 'a charge and its account stay');
    return billOfCharge(charge, account);
  }
}

/** Nothing tells of its due date again: whether that has passed is seen here. */
function unpaidStatus({ type, dueDate }: ChargeRow, today: PlainDate): ChargeRow['status'] {
  if (dueDate !== null && today > rollToBusinessDay(dueDate)) return 'Expired';
  return type === 'BANKSLIP' ? 'Pending' : 'Created';
}
