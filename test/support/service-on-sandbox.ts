// The whole service in front of a sandbox bank, without job workers and timers: a test runs each
// step itself.
import { ReconciliationService } from '../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../src/statement/lines/statement-sync.service.js';
import { serviceApplication } from './service-application.js';

export async function serviceOnSandbox(environment: Record<string, string> = {}) {
  const started = await serviceApplication(environment);
  const { application, sandbox: bank, test, database, url, call, stop } = started;
  const { pool } = database;
  const { id: accountId } = await database.prisma.bankAccount.findFirstOrThrow();
  const decideLine = (action: string, nsu: number, expectedPaymentId: string) =>
    database.transaction(async (tx) => {
      await tx.$executeRaw`
        INSERT INTO line_decision (account_id, nsu, action, allocations, actor, reason)
        SELECT account_id, nsu, ${action}, jsonb_build_array(jsonb_build_object(
          'expectedPaymentId', ${expectedPaymentId}::text, 'cents', amount_cents::text)),
          'test', 'test'
        FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu}`;
      const seeds = { nsus: [BigInt(nsu)], expectedPaymentIds: [expectedPaymentId] };
      await application
        .get(ReconciliationService, { strict: false })
        .decideNow(tx, accountId, seeds);
    });
  return {
    application,
    url,
    bank,
    test,
    database,
    pool,
    accountId,
    /** Calls the service. */
    call,
    /** Syncs the statement. */
    sync: () => application.get(StatementSync, { strict: false }).sync(accountId),
    /** A person links a line to an expected payment; a line against its direction reverses it. */
    match: (nsu: number, expectedPaymentId: string) => decideLine('link', nsu, expectedPaymentId),
    /** The person ends the link. */
    unlink: (nsu: number, expectedPaymentId: string) =>
      decideLine('unlink', nsu, expectedPaymentId),
    stop,
  };
}

export type ServiceOnSandbox = Awaited<ReturnType<typeof serviceOnSandbox>>;
