// The reconciliation services on the database of a test, without the rest of the application.
import { bankProfileOf } from '../../src/bank/profiles.js';
import type { Database } from '../../src/platform/postgres/database.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { DecisionWriter } from '../../src/reconciliation/apply/decision-writer.service.js';
import { ManualMatches } from '../../src/reconciliation/breaks/manual-matches.service.js';
import { BreakWriter } from '../../src/reconciliation/apply/break-writer.service.js';
import { FeeBreaks } from '../../src/reconciliation/apply/fee-breaks.service.js';
import { explainingBreakKinds } from '../../src/reconciliation/decide/break-kinds.js';
import {
  describeDifference,
  Recomputation,
} from '../../src/reconciliation/runs/recomputation.service.js';
import { ReconciliationService } from '../../src/reconciliation/apply/reconciliation.service.js';
import { type QueueOf } from './recorded-queues.js';

interface ReconciliationOptions {
  goLiveAt?: Date;
  visibilityBoundMs?: number | null;
  /** How many subjects of a batch are loaded at once. */
  partSize?: number;
}

export function reconciliationOn(
  database: Database,
  queueOf: QueueOf,
  { goLiveAt = new Date(0), visibilityBoundMs = 10_000, partSize }: ReconciliationOptions = {},
) {
  const profile = { ...bankProfileOf({ profile: 'sandbox' }), visibilityBoundMs };
  const bank = { profile } as never;
  const events = new EventsService(database, queueOf('deliverEvents'));
  const breaks = new BreakWriter(events);
  const reconciliation = new ReconciliationService(
    database,
    bank,
    new DecisionWriter(events, breaks),
    breaks,
    new FeeBreaks(breaks),
    events,
    queueOf('reconcile'),
    queueOf('advanceOperation'),
    queueOf('raiseAlerts'),
  );
  if (partSize !== undefined) reconciliation.partSize = partSize;
  const reconcile = reconciliation.reconcile.bind(reconciliation);
  reconciliation.reconcile = async ({ accountId }) => {
    await database.prisma.bankAccount.updateMany({ where: { id: accountId }, data: { goLiveAt } });
    await makeNewPaymentsDue(database, accountId);
    await reconcile({ accountId });
    await assertEachLineHasOutcome(database, accountId);
    const { differences } = await new Recomputation(database, profile).compareAccount(accountId);
    if (differences.length > 0)
      throw new Error(`recomputed otherwise:\n${differences.map(describeDifference).join('\n')}`);
  };
  const manualMatches = new ManualMatches(reconciliation);
  return { reconciliation, breaks, manualMatches };
}

/**
 * Makes every subject of the account due. For tests that change a fact by SQL, and not by the
 * module that records the task with it.
 */
export async function makeAllDue({ pool }: Database, accountId: number): Promise<void> {
  await pool.query(
    `INSERT INTO reconciliation_task (account_id, kind, expected_payment_id, operation_id)
     SELECT account_id, 'payment'::reconciliation_task_kind, id, NULL::uuid
     FROM expected_payment WHERE account_id = $1
     UNION ALL
     SELECT account_id, 'operation', NULL, id FROM operation WHERE account_id = $1`,
    [accountId],
  );
  await pool.query(
    `INSERT INTO reconciliation_task (account_id, kind, nsu)
     SELECT account_id, 'line', nsu FROM statement_line WHERE account_id = $1`,
    [accountId],
  );
}

/** For expected payments that a test inserts by SQL: the module records a task with each. */
async function makeNewPaymentsDue({ pool }: Database, accountId: number): Promise<void> {
  await pool.query(
    `INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
     SELECT account_id, 'payment', id FROM expected_payment e
     WHERE account_id = $1 AND NOT EXISTS (
       SELECT FROM expected_payment_total total
       WHERE total.account_id = e.account_id AND total.expected_payment_id = e.id)`,
    [accountId],
  );
}

/** Each decided line has a match, a classification or a break, or is stored as pending. */
async function assertEachLineHasOutcome({ pool }: Database, accountId: number): Promise<void> {
  const { rows } = await pool.query<{ nsu: string }>(
    `SELECT nsu FROM statement_line WHERE account_id = $1 EXCEPT (
       SELECT nsu FROM match WHERE account_id = $1 AND unlinked_at IS NULL
       UNION ALL SELECT nsu FROM classification WHERE account_id = $1
       UNION ALL SELECT nsu FROM line_outcome WHERE account_id = $1 AND state = 'pending'
       UNION ALL SELECT nsu FROM break
         WHERE account_id = $1 AND state = 'open' AND kind = ANY ($2))`,
    [accountId, explainingBreakKinds],
  );
  if (rows.length > 0)
    throw new Error(`decided lines without an outcome: ${rows.map(({ nsu }) => nsu).join()}`);
}
