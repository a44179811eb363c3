// Writes lines, expected payments and breaks of a test, and acts on breaks through the API.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { DayTree } from '../../src/reporting/day-closes/day-tree.queries.js';
import { listLineTotals } from '../../src/reporting/exports/exports.queries.js';
import { ReconciliationService } from '../../src/reconciliation/apply/reconciliation.service.js';
import { makeAllDue } from './reconciliation.js';
import type { ServiceOnSandbox } from './service-on-sandbox.js';
import { succeededOperations } from './parent-rows.js';

/** What the breaks have as evidence that no test looks at. */
const evidenceOfKind: Record<string, object> = {
  balance_mismatch: { lastNsu: '1', lastBalanceCents: '1', liveBalanceCents: '2', since: null },
  broken_balance_chain: {
    ...{ nsu: '1', balancePreviousCents: '1', jumps: null, neighbourNsu: null },
    ...{ neighbourBalanceCents: null, since: null, fullReads: null },
  },
  late_line: { operationId: null, operationKind: 'create_transfer' },
  missing: { operationId: null, operationKind: 'create_charge', dueDate: null, deadline: '' },
  unknown_outcome: {
    ...{ operationId: null, operationKind: 'create_transfer', reason: null, attempts: 1 },
  },
  unreadable_line: { kind: 'unreadable', reason: '', nsu: null },
};

export class BreaksFixture {
  private lastNsu = 9_000_000;

  constructor(private readonly service: () => ServiceOnSandbox) {}

  readonly sql = async (text: string, ...values: unknown[]) =>
    (await this.service().pool.query(text, values)).rows;

  /** Adds a line, ten minutes old, that the bank does not know. Returns its nsu. */
  readonly addLine = async ({
    amountCents = 1_000,
    isCredit = true,
    document = null as string | null,
    notes = null as string | null,
    correlationId = null as string | null,
    nsu = (this.lastNsu += 1),
    daysAgo = 0,
  } = {}): Promise<number> => {
    await this.sql(
      `WITH counted AS (
         UPDATE statement_state SET line_count = line_count + 1 WHERE account_id = $1
       )
       INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content,
         counterparty_document, notes, correlation_id)
       VALUES ($1, $2, 'x', $3, $4, 'CREDIT_PIX', 0, 0,
         now() - interval '10 minutes' - $8 * interval '1 day', 'h', '{}', $5, $6, $7)`,
      this.service().accountId,
      nsu,
      isCredit,
      amountCents,
      document,
      notes,
      correlationId,
      daysAgo,
    );
    return nsu;
  };

  readonly addExpectedPayment = async ({
    amountCents = 1_000 as number | null,
    isCredit = true,
    document = null as string | null,
    reference = null as string | null,
    isWithdrawn = false,
  } = {}): Promise<string> => {
    const id = randomUUID();
    const { accountId } = this.service();
    await this.sql(
      `WITH o AS (${succeededOperations({ id: '$2::uuid' })})
       INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
         is_multi_use, counterparty_document)
       VALUES ($1, $2, $2, 'create_charge', $3, $4, false, $5)`,
      accountId,
      id,
      isCredit,
      amountCents,
      document,
    );
    if (isWithdrawn)
      await this.sql(
        `INSERT INTO expected_payment_fact (account_id, expected_payment_id, kind, bank_time)
         VALUES ($1, $2, 'rejected', now())`,
        accountId,
        id,
      );
    if (reference !== null)
      await this.sql(
        `INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
         VALUES ($1, 'correlation_id', $2, $3)`,
        accountId,
        reference,
        id,
      );
    return id;
  };

  readonly addBreak = async (
    kind: string,
    subject: string,
    fields: {
      nsu?: number;
      expectedPaymentId?: string;
      operationId?: string;
      amountCents?: number;
    } = {},
  ): Promise<string> => {
    const id = randomUUID();
    await this.sql(
      `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu,
         expected_payment_id, operation_id, evidence)
       VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $9)`,
      this.service().accountId,
      id,
      kind,
      subject,
      fields.amountCents,
      fields.nsu,
      fields.expectedPaymentId,
      fields.operationId,
      JSON.stringify(evidenceOfKind[kind] ?? {}),
    );
    return id;
  };

  /** Makes the deadline of an expected payment pass. Returns its `missing` break. */
  readonly letDeadlinePass = async (expectedPaymentId: string): Promise<string> => {
    await this.sql(
      `UPDATE operation o SET ended_at = o.ended_at - interval '2 hours'
       FROM expected_payment e
       WHERE e.id = $1 AND o.account_id = e.account_id AND o.id = e.operation_id`,
      expectedPaymentId,
    );
    await this.sql(
      `UPDATE expected_payment SET due_date = '2026-01-05' WHERE id = $1 AND is_credit`,
      expectedPaymentId,
    );
    await this.decideAll();
    const [missing] = await this.sql(
      `SELECT id FROM break
       WHERE expected_payment_id = $1 AND kind = 'missing' AND state = 'open'`,
      expectedPaymentId,
    );
    return missing.id as string;
  };

  /** Makes a line the payment, by its endToEndId, of an expected payment of this amount. */
  readonly expectLine = async (
    nsu: number,
    amountCents: number,
    { isPaidBefore = false, isCancelled = false } = {},
  ): Promise<void> => {
    const reference = randomUUID();
    const id = await this.addExpectedPayment({ amountCents, reference });
    if (isPaidBefore) await this.addLine({ amountCents, correlationId: reference });
    await this.sql(
      `INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
       SELECT account_id, 'end_to_end_id', end_to_end_id, $3 FROM statement_line
       WHERE account_id = $1 AND nsu = $2`,
      this.service().accountId,
      nsu,
      id,
    );
    if (isCancelled) await this.addCancelledCharge(id);
    await this.decideAll();
  };

  readonly addCancelledCharge = (expectedPaymentId: string) =>
    this.sql(
      `INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
         amount_cents, cancelled_at)
       SELECT account_id, id::text, operation_id, id, 'BANKSLIP', amount_cents, now()
       FROM expected_payment WHERE id = $1`,
      expectedPaymentId,
    );

  /** Decides every line again: the test has changed facts by SQL. */
  readonly decideAll = async () => {
    await makeAllDue(this.service().database, this.service().accountId);
    await this.reconcile();
  };

  readonly reconcile = () =>
    this.service()
      .application.get(ReconciliationService, { strict: false })
      .reconcile({ accountId: this.service().accountId });

  /** Adds a line without references and reconciles. Returns its nsu and the id of its break. */
  readonly addUnexpectedLine = async (fields: Parameters<BreaksFixture['addLine']>[0] = {}) => {
    const nsu = await this.addLine(fields);
    await this.reconcile();
    const { body } = await this.service().call('GET', `/v1/breaks?nsu=${nsu}`);
    return { nsu, id: body.data[0].id as string };
  };

  readonly act = async (id: string, action: string, fields: object = {}, apiKey?: string) =>
    this.service().call('POST', `/v1/breaks/${id}/actions`, {
      body: { action, reason: 'as agreed', ...fields },
      ...(apiKey === undefined ? {} : { apiKey }),
    });
  readonly get = async (id: string) => (await this.service().call('GET', `/v1/breaks/${id}`)).body;
  readonly explanation = async (nsu: number) =>
    (await this.service().call('GET', `/v1/transactions?nsu=${nsu}`)).body.data[0].explanation;

  /** The list, the summary, the month and the day report the same state of every line. */
  readonly expectReadingsAgree = async () => {
    const { accountId, call, database } = this.service();
    const { body: list } = await call('GET', '/v1/transactions?limit=100');
    const stateOf = ({ explanation }: { explanation: { state: string } }) => explanation.state;
    const listed = countOf(list.data.map(stateOf));
    const pending = list.data.filter(
      (line: { explanation: { state: string } }) => stateOf(line) === 'pending',
    );
    const { body: listedPending } = await call('GET', '/v1/transactions?state=pending&limit=100');
    expect(listedPending.data).toEqual(pending);
    const { transactions } = (await call('GET', '/v1/summary')).body;
    expect(transactions).toMatchObject({
      total: list.data.length,
      matched: listed.get('matched') ?? 0,
      classified: listed.get('classified') ?? 0,
      inBreak: listed.get('in_break') ?? 0,
    });
    const all = { from: new Date(0), until: new Date('2100-01-01') };
    const [low, high] = [-(10n ** 18n), 10n ** 18n];
    const month = await listLineTotals(database.prisma, accountId, all, { arrival: high });
    const counted = new Map<string, number>();
    for (const { state, lines } of month)
      counted.set(state, (counted.get(state) ?? 0) + Number(lines));
    expect(counted).toEqual(listed);
    const span = { accountId, ...all, lastArrival: high, outcomeSequence: high };
    const day = await DayTree.read(database.prisma, span, { firstNsu: low, lastNsu: high });
    const certified = new Map<string, number>();
    for (const { state, lines } of day.totals())
      certified.set(state, (certified.get(state) ?? 0) + lines);
    if (day.undecided > 0)
      certified.set('pending', (certified.get('pending') ?? 0) + day.undecided);
    expect(certified).toEqual(listed);
  };

  /** The actions in the history of a break, in order. */
  readonly actions = async (id: string): Promise<string[]> =>
    (await this.get(id)).history.map(({ action }: { action: string }) => action);

  readonly liveMatches = (nsu: number) =>
    this.sql(
      `SELECT rule, made_by IS NOT NULL AS "manually", amount_cents::int AS cents FROM match
       WHERE nsu = $1 AND unlinked_at IS NULL ORDER BY cents`,
      nsu,
    );
}

function countOf(states: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

export const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body.code,
];
