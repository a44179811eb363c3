// The whole service in front of a sandbox bank, without job workers and timers: a test runs each
// step itself.
import { StatementService } from '../../src/statement/statement.service.js';
import { serviceApplication } from './service-application.js';

export async function serviceOnSandbox() {
  const { application, sandbox: bank, database, call, stop } = await serviceApplication();
  const { pool } = database;
  const { id: accountId } = await database.prisma.bankAccount.findFirstOrThrow();
  return {
    application,
    bank,
    database,
    pool,
    accountId,
    /** Calls the service. */
    call,
    /** Syncs the statement. */
    sync: () => application.get(StatementService, { strict: false }).sync(accountId),
    /** Inserts a match of a line with an expected payment. */
    match: (nsu: number, expectedPaymentId: string, role = 'payment') =>
      pool.query(
        `INSERT INTO match
           (account_id, id, nsu, expected_payment_id, amount_cents, role, rule, evidence)
         SELECT account_id, gen_random_uuid(), nsu, $3::uuid, amount_cents, $4, 'test', '{}'
         FROM statement_line WHERE account_id = $1 AND nsu = $2`,
        [accountId, nsu, expectedPaymentId, role],
      ),
    stop,
  };
}

export type ServiceOnSandbox = Awaited<ReturnType<typeof serviceOnSandbox>>;
