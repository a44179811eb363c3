// Puts what the rooms write when money is sent, and lines of the statement, into the book of a test, and judges it.
import { randomUUID } from 'node:crypto';
import { EventsService } from '../../src/events/events.service.js';
import { ExpectedPaymentsService } from '../../src/expected-payments/expected-payments.service.js';
import type { Reference } from '../../src/expected-payments/references.js';
import { ManualMatches } from '../../src/reconciliation/breaks/manual-matches.service.js';
import { reconciliationOn } from './reconciliation.js';
import type { ServiceDatabase } from './service-database.js';

export interface Sending {
  kind?: string;
  state?: string;
  amountCents?: number;
  references?: Reference[];
  /** Where the bank answered. */
  responseStatus?: number | null;
  /** Seconds before now. */
  age?: number;
  /** Of a transfer; null where it is none. */
  transferState?: string | null;
}

export interface Line {
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
  /** Seconds before now. */
  age?: number;
}

const isFinal = (state: string) => !['received', 'sending', 'unknown'].includes(state);

export class SentMoney {
  constructor(private readonly service: () => ServiceDatabase) {}

  readonly woken: [string, Record<string, unknown>][] = [];
  readonly run = (sql: string, ...values: unknown[]) =>
    this.service().database.pool.query(sql, values);
  readonly jobQueue = {
    enqueue: (...one: [string, Record<string, unknown>]) => Promise.resolve(void this.woken.push(one)),
  } as never;
  readonly expectedPayments = new ExpectedPaymentsService();

  readonly decision = (visibilityBoundMs: number | null = 10_000) =>
    reconciliationOn(this.service().database, this.jobQueue, { visibilityBoundMs });
  readonly reconciliation = (visibilityBoundMs: number | null = 10_000) =>
    this.decision(visibilityBoundMs).reconciliation;

  /** A charge of R$ 10.00 that lines name by this reference; its expected payment. */
  readonly charge = async (reference: string): Promise<string> => {
    const id = randomUUID();
    await this.run(
      `WITH e AS (
         INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents, is_multi_use)
         VALUES ($1, $2, gen_random_uuid(), 'create_charge', true, 1000, false)
       ), r AS (
         INSERT INTO expected_payment_reference VALUES ($1, 'external_id', $3, $2)
       )
       INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type, amount_cents)
       VALUES ($1, $3, gen_random_uuid(), $2, 'BANKSLIP', 1000)`,
      this.service().accountId,
      id,
      reference,
    );
    return id;
  };

  /** Breaks of the ten lines from this one on. */
  readonly breaksFrom = async (nsu: number) => {
    const { rows } = await this.run(
      `SELECT kind, state, nsu::int FROM break WHERE account_id = $1 AND nsu BETWEEN $2 AND $2 + 9 ORDER BY nsu, kind`,
      this.service().accountId,
      nsu,
    );
    return rows;
  };

  /** An operation with one expected payment for each list of references; the ids of both. */
  readonly send = async ({
    kind = 'create_transfer',
    state = 'unknown',
    amountCents = 1_000,
    references = [],
    responseStatus = state === 'succeeded' ? 200 : null,
    age = 5,
    transferState = null,
  }: Sending) => {
    const { database, accountId } = this.service();
    const operationId = randomUUID();
    await this.run(
      `INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts, response_status,
         next_action_at, ended_at, created_at)
       VALUES ($1, $2, $3, $4, 'h', '{}', 1, $5, CASE WHEN $6 THEN NULL ELSE now() + interval '1 hour' END,
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
      `INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by)
       VALUES ($1, $2, 1, now() - $3 * interval '1 second', now() - ($3 - 5) * interval '1 second')`,
      accountId,
      operationId,
      age,
    );
    const [expectedPaymentId = ''] = await database.transaction(async (tx) => {
      const common = { dueDate: null, terms: null, isMultiUse: false, isCredit: false };
      const ids = await this.expectedPayments.record(tx, { accountId, operationId, kind }, [
        { ...common, amountCents: BigInt(amountCents), references },
      ]);
      if (state === 'not_executed' || state === 'rejected')
        await this.expectedPayments.withdraw(tx, { accountId, operationId });
      return ids;
    });
    if (transferState !== null)
      await this.run(
        `INSERT INTO transfer (account_id, id, operation_id, shape, amount_cents, counterparty, state, external_id,
           expected_payment_id, updated_at)
         VALUES ($1, $2, $2, 'manual', $3, 'x', $4, 'external', $5, now() - $6 * interval '1 second')`,
        accountId,
        operationId,
        amountCents,
        transferState,
        expectedPaymentId,
        age,
      );
    return { operationId, expectedPaymentId };
  };

  readonly setState = (operationId: string, state: string) =>
    this.run(
      `UPDATE operation SET state = $2, updated_at = clock_timestamp(),
         next_action_at = CASE WHEN $3 THEN NULL ELSE now() + interval '1 hour' END,
         ended_at = CASE WHEN $3 THEN now() END,
         response_status = CASE WHEN $2 = 'succeeded' THEN 200 END
       WHERE id = $1`,
      operationId,
      state,
      isFinal(state),
    );

  readonly refer = (expectedPaymentId: string, ...references: Reference[]) =>
    this.service().database.transaction((tx) =>
      this.expectedPayments.addReferences(
        tx,
        this.service().accountId,
        expectedPaymentId,
        references,
      ),
    );

  readonly mirror = async (...lines: Line[]) => {
    for (const { nsu, isCredit = false, amountCents = 1_000, age = 3, ...line } of lines)
      await this.run(
        `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, end_to_end_id,
           original_end_to_end_id, external_id, movement_id, idempotency_key, bill_code, counterparty,
           balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
         VALUES ($1, $2, 'x', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, 0, now() - $13 * interval '1 second',
                 'h', '{}')`,
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
        age,
      );
  };

  /** What became of each line: matched with its role and rule, in an open break of a kind, or waiting. */
  readonly outcomes = async () => {
    const { rows } = await this.run(
      `SELECT t.nsu::int, m.expected_payment_id AS "expectedPaymentId",
         COALESCE(m.role || ' by ' || m.rule, b.kind, CASE WHEN d.nsu IS NOT NULL THEN 'waits' END) AS outcome
       FROM statement_line t
       LEFT JOIN match m ON m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL
       LEFT JOIN break b ON b.account_id = t.account_id AND b.nsu = t.nsu AND b.state = 'open'
         AND b.kind IN ('unexpected', 'ambiguous', 'duplicate_payment', 'amount_mismatch')
       LEFT JOIN deferred_line d ON d.account_id = t.account_id AND d.nsu = t.nsu
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
      `SELECT type, data FROM event WHERE account_id = $1 AND type NOT LIKE 'break.%' ORDER BY id`,
      this.service().accountId,
    );
    return rows.map(({ type, data }) => ({
      type,
      data: JSON.parse(data) as Record<string, unknown>,
    }));
  };

  private readonly hand = { actor: 'anna', reason: 'test' };
  private readonly hands = () => {
    const { breaks, review } = this.decision();
    const events = new EventsService(this.service().database, this.jobQueue);
    return new ManualMatches(events, this.expectedPayments, breaks, review);
  };

  /** A person says that a line, all of it, is of this expected payment. */
  readonly link = (nsu: number, expectedPaymentId: string) =>
    this.service().database.transaction((tx) => {
      const allocations = [{ expectedPaymentId, amountCents: null }];
      const link = { nsu: BigInt(nsu), allocations };
      return this.hands().link(tx, this.service().accountId, link, this.hand);
    });

  /** A person says that a line is not of what it is matched to. */
  readonly unlink = (nsu: number) =>
    this.service().database.transaction(async (tx) => {
      const { accountId } = this.service();
      const where = { accountId, nsu: BigInt(nsu), unlinkedAt: null };
      const live = await tx.match.findFirst({ where });
      const undone = { nsu: BigInt(nsu), matchId: live?.id ?? '' };
      return this.hands().unlink(tx, accountId, undone, this.hand);
    });

  readonly reconcile = () =>
    this.reconciliation().reconcile({ accountId: this.service().accountId });
}
