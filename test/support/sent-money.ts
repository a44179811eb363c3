// Writes operations, expected payments, charges and statement lines as the modules store them, and
// reconciles the account of a test.
import { randomUUID } from 'node:crypto';
import { insertFacts } from '../../src/statement/expected-payments/expected-payments.queries.js';
import {
  addReferences,
  recordExpectedPayments,
} from '../../src/statement/expected-payments/recording.queries.js';
import type { Reference } from '../../src/statement/expected-payments/references.js';
import { recordOperationTasks } from '../../src/statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { makeAllDue, reconciliationOn } from './reconciliation.js';
import type { ServiceDatabase } from './service-database.js';
import { succeededOperations } from './parent-rows.js';
import { recordedQueues } from './recorded-queues.js';

export interface SentOperation {
  kind?: string;
  state?: string;
  amountCents?: number;
  references?: Reference[];
  /** Null when the bank did not respond. */
  responseStatus?: number | null;
  /** Seconds before now. */
  age?: number;
  /** The state of the transfer; null when the operation is not a transfer. */
  transferState?: string | null;
}

export interface SentMoneyLine {
  nsu: number;
  isCredit?: boolean;
  amountCents?: number;
  typeName?: string;
  endToEndId?: string;
  originalEndToEndId?: string;
  externalId?: string;
  movementId?: string;
  idempotencyKey?: string;
  billCode?: string;
  counterparty?: string;
  hasOneHolder?: boolean;
  /** Seconds before now. */
  age?: number;
}

const isFinal = (state: string) => !['received', 'sending', 'unknown'].includes(state);

export class SentMoneyFixture {
  constructor(private readonly service: () => ServiceDatabase) {}

  readonly enqueuedJobs: [string, Record<string, unknown>][] = [];
  readonly run = (sql: string, ...values: unknown[]) =>
    this.service().database.pool.query(sql, values);
  readonly queueOf = recordedQueues((...job) =>
    this.enqueuedJobs.push(job as [string, Record<string, unknown>]),
  );

  readonly reconciliationParts = (visibilityBoundMs: number | null = 10_000) =>
    reconciliationOn(this.service().database, this.queueOf, { visibilityBoundMs });
  readonly reconciliation = (visibilityBoundMs: number | null = 10_000) =>
    this.reconciliationParts(visibilityBoundMs).reconciliation;

  /**
   * A charge of R$ 10.00 that lines with this external id pay. Returns the id of its expected
   * payment.
   */
  readonly addCharge = async (reference: string): Promise<string> => {
    const id = randomUUID();
    await this.run(
      `WITH o AS (${succeededOperations({ id: '$2::uuid' })}), e AS (
         INSERT INTO expected_payment
           (account_id, id, operation_id, kind, is_credit, amount_cents, is_multi_use)
         VALUES ($1, $2, $2, 'create_charge', true, 1000, false)
       ), r AS (
         INSERT INTO expected_payment_reference VALUES ($1, 'external_id', $3, $2)
       )
       INSERT INTO charge
         (account_id, correlation_id, operation_id, expected_payment_id, type, amount_cents)
       VALUES ($1, $3, $2, $2, 'BANKSLIP', 1000)`,
      this.service().accountId,
      id,
      reference,
    );
    return id;
  };

  /** The breaks of this line and of the nine lines after it. */
  readonly listBreaksFrom = async (nsu: number) => {
    const { rows } = await this.run(
      `SELECT kind, state, nsu::int FROM break
       WHERE account_id = $1 AND nsu BETWEEN $2 AND $2 + 9 ORDER BY nsu, kind`,
      this.service().accountId,
      nsu,
    );
    return rows;
  };

  /** Adds an operation with one expected payment. Returns the ids of both. */
  readonly addOperation = async ({
    kind = 'create_transfer',
    state = 'unknown',
    amountCents = 1_000,
    references = [],
    responseStatus = state === 'succeeded' ? 200 : null,
    age = 5,
    transferState = null,
  }: SentOperation) => {
    const { database, accountId } = this.service();
    const operationId = randomUUID();
    await this.run(
      `INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
         response_status, is_detached, next_action_at, ended_at, created_at)
       VALUES ($1, $2, $3, $4, 'h', '{}', 1, $5::int,
         $4::operation_state <> 'received' AND $5::int IS NULL,
         CASE WHEN $6 THEN NULL ELSE now() + interval '1 hour' END,
         CASE WHEN $6 THEN now() END, now() - $7 * interval '1 second')`,
      accountId,
      operationId,
      kind,
      state,
      responseStatus,
      isFinal(state),
      age,
    );
    await this.run(
      `INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by,
         clock_offset_ms, clock_offset_max_ms)
       SELECT $1, $2, 1, now() - $3 * interval '1 second', now() - ($3 - 5) * interval '1 second',
         COALESCE(max(clock_offset_ms), 0), COALESCE(max(clock_offset_max_ms), 0)
       FROM statement_state WHERE account_id = $1`,
      accountId,
      operationId,
      age,
    );
    const [expectedPaymentId = ''] = await database.transaction(async (tx) => {
      const common = { dueDate: null, terms: null, isMultiUse: false, isCredit: false };
      const ids = await recordExpectedPayments(tx, { accountId, operationId, kind }, [
        { ...common, amountCents: BigInt(amountCents), references },
      ]);
      if (state === 'not_executed' || state === 'rejected')
        await insertFacts(
          tx,
          accountId,
          { operationIds: [operationId] },
          state === 'rejected' ? 'rejected' : 'absence_proven',
        );
      await recordOperationTasks(tx, accountId, operationId);
      return ids;
    });
    if (transferState !== null)
      await this.run(
        `INSERT INTO transfer (account_id, id, operation_id, shape, amount_cents, counterparty,
           state, external_id, expected_payment_id, updated_at)
         VALUES ($1, $2, $2, 'manual', $3, 'x',
           $4, 'external', $5, now() - $6 * interval '1 second')`,
        accountId,
        operationId,
        amountCents,
        transferState,
        expectedPaymentId,
        age,
      );
    return { operationId, expectedPaymentId };
  };

  readonly setOperationState = async (operationId: string, state: string) => {
    await this.run(
      `UPDATE operation SET state = $2::operation_state, updated_at = clock_timestamp(),
         next_action_at = CASE WHEN $3 THEN NULL ELSE now() + interval '1 hour' END,
         ended_at = CASE WHEN $3 THEN now() END,
         response_status = CASE WHEN $2::operation_state = 'succeeded' THEN 200 END
       WHERE id = $1`,
      operationId,
      state,
      isFinal(state),
    );
    if (state === 'sending')
      await this.run(
        `INSERT INTO operation_attempt (account_id, operation_id, number, send_by)
         SELECT account_id, operation_id, max(number) + 1, now() + interval '5 seconds'
         FROM operation_attempt WHERE operation_id = $1 GROUP BY account_id, operation_id`,
        operationId,
      );
    await this.service().database.transaction((tx) =>
      recordOperationTasks(tx, this.service().accountId, operationId),
    );
  };

  /** A person accepts or reopens the breaks of a line, as the API records it. */
  readonly actOnBreaksOf = (nsu: number, action: 'accept' | 'reopen', actor = 'clerk') =>
    this.service().database.transaction(async (tx) => {
      const { accountId } = this.service();
      await tx.$executeRaw`
        INSERT INTO break_history_entry (account_id, break_id, action, actor, reason, detail)
        SELECT account_id, id, ${action}, ${actor}, 'as agreed',
          CASE WHEN ${action} = 'accept'
            THEN jsonb_build_object('cents', amount_cents::text) ELSE '{}' END
        FROM break WHERE account_id = ${accountId} AND nsu = ${nsu}`;
      const seeds = { nsus: [BigInt(nsu)], expectedPaymentIds: [] };
      await this.reconciliation().decideNow(tx, accountId, seeds);
    });

  readonly makeAllDue = () => makeAllDue(this.service().database, this.service().accountId);

  readonly addReferences = (expectedPaymentId: string, ...references: Reference[]) =>
    this.service().database.transaction((tx) =>
      addReferences(tx, this.service().accountId, [{ expectedPaymentId, references }]),
    );

  readonly addLines = async (...lines: SentMoneyLine[]) => {
    for (const { nsu, isCredit = false, amountCents = 1_000, age = 3, ...line } of lines)
      await this.run(
        `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
           end_to_end_id, original_end_to_end_id, external_id, movement_id, idempotency_key,
           bill_code, counterparty, has_one_holder, balance_previous_cents,
           current_balance_cents, occurred_at, content_hash, content)
         VALUES ($1, $2, 'x', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, 0,
           now() - $14 * interval '1 second', 'h', '{}')`,
        this.service().accountId,
        nsu,
        isCredit,
        amountCents,
        line.typeName ?? (isCredit ? 'CREDIT_PIX_REVERSAL' : 'DEBIT_PIX'),
        line.endToEndId,
        line.originalEndToEndId,
        line.externalId,
        line.movementId,
        line.idempotencyKey,
        line.billCode,
        line.counterparty,
        line.hasOneHolder ?? false,
        age,
      );
  };

  /** The outcome of each line: role and rule of its match, kind of its open break, or pending. */
  readonly outcomes = async () => {
    const { rows } = await this.run(
      `SELECT t.nsu::int, m.expected_payment_id AS "expectedPaymentId",
         COALESCE(m.role || ' by ' || m.rule, b.kind,
           CASE WHEN d.nsu IS NOT NULL THEN 'pending' END) AS outcome
       FROM statement_line t
       LEFT JOIN match m ON m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL
       LEFT JOIN break b ON b.account_id = t.account_id AND b.nsu = t.nsu AND b.state = 'open'
         AND b.kind IN ('unexpected', 'unrequested_debit', 'ambiguous', 'duplicate_payment',
           'amount_mismatch')
       LEFT JOIN line_outcome d ON d.account_id = t.account_id AND d.nsu = t.nsu
         AND d.state = 'pending'
       WHERE t.account_id = $1 ORDER BY t.nsu`,
      this.service().accountId,
    );
    return rows as { nsu: number; outcome: string; expectedPaymentId: string | null }[];
  };

  readonly openBreaks = async () =>
    (
      await this.run(
        `SELECT kind, subject FROM break WHERE account_id = $1 AND state = 'open' ORDER BY kind`,
        this.service().accountId,
      )
    ).rows;

  readonly events = async () => {
    const { rows } = await this.run(
      `SELECT type, data FROM event WHERE account_id = $1 AND type NOT LIKE 'break.%'
       ORDER BY position`,
      this.service().accountId,
    );
    return rows.map(({ type, data }) => ({
      type,
      data: JSON.parse(data) as Record<string, unknown>,
    }));
  };

  private readonly by = { actor: 'anna', reason: 'test' };
  readonly manualMatches = () => this.reconciliationParts().manualMatches;

  /** A person links the whole line to this expected payment. */
  readonly link = (nsu: number, expectedPaymentId: string) =>
    this.service().database.transaction((tx) => {
      const allocations = [{ expectedPaymentId, amountCents: null }];
      const link = { nsu: BigInt(nsu), allocations };
      return this.manualMatches().link(tx, this.service().accountId, link, this.by);
    });

  /** A person unlinks the live match of the line. */
  readonly unlink = (nsu: number) =>
    this.service().database.transaction(async (tx) => {
      const { accountId } = this.service();
      const where = { accountId, nsu: BigInt(nsu), unlinkedAt: null };
      const liveMatch = await tx.match.findFirst({ where });
      const unlinkedMatch = { nsu: BigInt(nsu), matchId: liveMatch?.id ?? '' };
      return this.manualMatches().unlink(tx, accountId, unlinkedMatch, this.by);
    });

  readonly reconcile = () =>
    this.reconciliation().reconcile({ accountId: this.service().accountId });
}
