// The reconciliation services on the database of a test, without the rest of the application.
import type { Database } from '../../src/database.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { ExpectedPaymentsService } from '../../src/expected-payments/expected-payments.service.js';
import type { JobQueue } from '../../src/platform/job-queue.js';
import { Breaks } from '../../src/reconciliation/breaks.service.js';
import { explainingBreakKinds } from '../../src/reconciliation/line-outcome.js';
import { MissingPayments } from '../../src/reconciliation/missing-payments.service.js';
import { DeclaredRules } from '../../src/reconciliation/rules/declared-rules.service.js';
import { ReconciliationService } from '../../src/reconciliation/reconciliation.service.js';
import { RefundedBreaks } from '../../src/reconciliation/refunded-breaks.service.js';
import { SettlementReview } from '../../src/reconciliation/settlement-review.service.js';
import { AccountBreaks } from '../../src/reconciliation/account-breaks.service.js';
import { OutcomeWriter } from '../../src/reconciliation/outcome-writer.service.js';

interface ReconciliationOptions {
  goLiveAt?: Date;
  visibilityBoundMs?: number | null;
}

export function reconciliationOn(
  database: Database,
  jobQueue: JobQueue,
  { goLiveAt = new Date(0), visibilityBoundMs = 10_000 }: ReconciliationOptions = {},
) {
  const accounts = {
    get: (id: number) => Promise.resolve({ id, slug: 'main', goLiveAt }),
  } as never;
  const bank = { profile: { visibilityBoundMs } } as never;
  const events = new EventsService(database, jobQueue);
  const breaks = new Breaks(events);
  const expectedPayments = new ExpectedPaymentsService();
  const review = new SettlementReview(database, breaks, new RefundedBreaks(breaks));
  const writer = new OutcomeWriter(events, expectedPayments, breaks, review, jobQueue);
  const rules = new DeclaredRules(breaks);
  const missing = new MissingPayments(database, bank, breaks, jobQueue);
  const accountBreaks = new AccountBreaks(database, bank, breaks, review, missing, jobQueue);
  const reconciliation = new ReconciliationService(
    database,
    accounts,
    bank,
    writer,
    accountBreaks,
    rules,
    jobQueue,
  );
  const reconcile = reconciliation.reconcile.bind(reconciliation);
  reconciliation.reconcile = async ({ accountId }) => {
    await reconcile({ accountId });
    await assertEachLineHasOutcome(database, accountId);
  };
  return { reconciliation, accountBreaks, breaks, missing, review };
}

/** Each decided line has a match, a classification or a break, or is stored as pending. */
async function assertEachLineHasOutcome({ pool }: Database, accountId: number): Promise<void> {
  const { rows } = await pool.query<{ nsu: string }>(
    `SELECT nsu FROM statement_line WHERE account_id = $1 EXCEPT (
       SELECT nsu FROM match WHERE account_id = $1 AND unlinked_at IS NULL
       UNION ALL SELECT nsu FROM classification WHERE account_id = $1
       UNION ALL SELECT nsu FROM deferred_line WHERE account_id = $1
       UNION ALL SELECT nsu FROM break
         WHERE account_id = $1 AND state = 'open' AND kind = ANY ($2))`,
    [accountId, explainingBreakKinds],
  );
  if (rows.length > 0)
    throw new Error(`decided lines without an outcome: ${rows.map(({ nsu }) => nsu).join()}`);
}
