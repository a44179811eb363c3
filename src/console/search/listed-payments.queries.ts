// What a list of payments shows beside the records themselves: who pays or is paid, the amount and
// the due date, read for all rows of a page at once.
import {
  counterpartyIn,
  findExpectedCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import { shownCounterparty } from '../../access/counterparties/counterparty.schema.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { Db } from '../../platform/postgres/database.service.js';
import type { Visit } from '../visit.js';

interface ListedPayment {
  /** By our clock: the lists follow it. The bank may say another time. */
  createdAt: Date | null;
  amountCents: bigint | null;
  dueDate: string | null;
  counterparty: Counterparty;
}

/** By the id of an expected payment. */
export type ListedPayments = (id: string) => ListedPayment;

export async function readPayments(
  db: Db,
  visit: Visit,
  ids: readonly string[],
): Promise<ListedPayments> {
  const { accountId } = visit;
  const isVisible = visit.may('see personal data');
  const rows = await db.expectedPayment.findMany({
    where: { accountId, id: { in: [...ids] } },
    select: { id: true, amountCents: true, dueDate: true, createdAt: true },
  });
  const counterparties = await findExpectedCounterparties(db, accountId, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return (id) => {
    const { amountCents = null, dueDate = null, createdAt = null } = byId.get(id) ?? {};
    const counterparty = shownCounterparty(counterpartyIn(counterparties, id), isVisible);
    return { amountCents, dueDate, createdAt, counterparty };
  };
}
