// What is known of the balance of an account, and where one fact contradicts another.
import type { Cents } from '../brazil/cents.js';
import type { Db } from '../platform/postgres/database.service.js';
import {
  readStatementView,
  type StatementView,
} from '../statement/lines/statement-view.queries.js';

export interface Balances {
  /** After the newest line of the statement, and when the bank recorded that line. */
  statement: { cents: Cents | null; at: Date | null };
  /** As the bank last said it. */
  bank: StatementView['liveBalance'];
  /** Whether lines are missing between others. */
  isBroken: boolean;
}

export async function readKnownBalances(db: Db, accountId: number): Promise<Balances> {
  const [view, [newest]] = await Promise.all([
    readStatementView(db, accountId),
    db.$queryRaw<Balances['statement'][]>`
      SELECT s.balance_cents AS cents, (
               SELECT occurred_at FROM statement_line
               WHERE account_id = s.account_id AND nsu = s.last_nsu
             ) AS at
      FROM statement_state s WHERE s.account_id = ${accountId}`,
  ]);
  const statement = newest ?? { cents: null, at: null };
  return { statement, bank: view.liveBalance, isBroken: view.broken !== null };
}
