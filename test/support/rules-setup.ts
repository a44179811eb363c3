// Writes the lines, expected payments and declared rules of the account of a test, and reconciles
// the account.
import { randomUUID } from 'node:crypto';
import { bankProfileOf } from '../../src/bank/profiles.js';
import { loadSettings } from '../../src/platform/settings/config.js';
import { createLog } from '../../src/platform/log.js';
import { recordExpectedPayments } from '../../src/statement/expected-payments/recording.queries.js';
import { RuleCatalog } from '../../src/reconciliation/rules/rule-catalog.service.js';
import { RuleTrials } from '../../src/reconciliation/rules/rule-trials.service.js';
import type { RuleDefinition } from '../../src/reconciliation/rules/rules.schema.js';
import { SentMoneyFixture } from './sent-money.js';
import type { ServiceDatabase } from './service-database.js';
import { succeededOperations } from './parent-rows.js';

export interface RuleSetupLine {
  nsu: number;
  cents: number;
  document?: string;
  notes?: string;
  day?: string;
  isCredit?: boolean;
  typeName?: string;
  correlationId?: string;
  endToEndId?: string;
  originalEndToEndId?: string;
}

export interface RuleSetupExpectedPayment {
  cents: number;
  document?: string;
  dueDate?: string;
  correlationId?: string;
  isMultiUse?: boolean;
  /** A debit otherwise. */
  isCredit?: boolean;
}

export const matchRule = (match: Partial<NonNullable<RuleDefinition['then']['match']>>) =>
  ({
    priority: 10,
    when: {},
    then: { match: { by: ['document', 'amount'], combines: false, instalments: false, ...match } },
    reason: 'test',
  }) as RuleDefinition;

export class RulesSetup {
  private readonly fixture: SentMoneyFixture;

  constructor(private readonly service: () => ServiceDatabase) {
    this.fixture = new SentMoneyFixture(service);
  }

  readonly run = (sql: string, ...values: unknown[]) => this.fixture.run(sql, ...values);
  readonly decide = () =>
    this.fixture.reconciliation().reconcile({ accountId: this.service().accountId });
  readonly catalog = () =>
    new RuleCatalog(this.service().database, this.fixture.queueOf('reconcile'), loadSettings({}));
  readonly trials = () =>
    new RuleTrials(
      this.service().database,
      { today: () => Promise.resolve('2026-06-30') } as never,
      { profile: bankProfileOf({ profile: 'sandbox' }) } as never,
      createLog('silent', 'test'),
    );
  readonly actor = () => ({ accountId: this.service().accountId, actor: 'key', reason: 'test' });

  readonly declareRule = (definition: RuleDefinition, name: string = randomUUID()) =>
    this.catalog().create(this.actor(), name, definition);
  readonly runTrial = (ruleId: string, version = 1) =>
    this.trials().run(this.actor(), { ruleId, version }, { from: '2026-06-01', to: '2026-06-30' });
  /** Activates a version as if it had had a trial. */
  readonly activate = async (ruleId: string, version = 1) => {
    await this.run(
      `INSERT INTO rule_trial (account_id, id, rule_id, version, "from", until, result, created_at)
       VALUES ($1, gen_random_uuid(), $2, $3, now(), now(), '{}',
         clock_timestamp() + interval '1 millisecond')`,
      this.service().accountId,
      ruleId,
      version,
    );
    await this.catalog().activate(this.actor(), ruleId, version);
  };
  readonly declareActiveRule = async (definition: RuleDefinition) => {
    const id = await this.declareRule(definition);
    await this.activate(id);
    return id;
  };

  readonly addExpectedPayment = async (
    expectedPayment: RuleSetupExpectedPayment,
  ): Promise<string> => {
    const { database, accountId } = this.service();
    const {
      correlationId: value = randomUUID(),
      cents,
      document = null,
      dueDate,
    } = expectedPayment;
    const operation = { accountId, operationId: randomUUID(), kind: 'create_charge' };
    await this.run(succeededOperations({ id: '$2::uuid' }), accountId, operation.operationId);
    const [id = ''] = await database.transaction((tx) =>
      recordExpectedPayments(tx, operation, [
        {
          isCredit: expectedPayment.isCredit ?? true,
          amountCents: BigInt(cents),
          dueDate: dueDate ?? '2026-06-10',
          terms: null,
          isMultiUse: expectedPayment.isMultiUse ?? false,
          counterpartyDocument: document,
          references: [{ kind: 'correlation_id', value }],
        },
      ]),
    );
    return id;
  };

  readonly addLine = ({
    nsu,
    cents,
    day = '2026-06-10',
    isCredit = true,
    ...line
  }: RuleSetupLine) =>
    this.run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         correlation_id, counterparty_document, notes, balance_previous_cents,
         current_balance_cents, occurred_at, content_hash, content,
         end_to_end_id, original_end_to_end_id)
       VALUES ($1, $2, 'x', $3, $4, $5, $6, $7, $8, 0, 0,
         ($9::text || ' 15:00Z')::timestamptz, 'h', '{}', $10, $11)`,
      this.service().accountId,
      nsu,
      isCredit,
      cents,
      line.typeName ?? 'CREDIT_PIX',
      line.correlationId ?? null,
      line.document ?? null,
      line.notes ?? null,
      day,
      line.endToEndId ?? null,
      line.originalEndToEndId ?? null,
    );

  /** As if the expected payments and the rules had existed since this day. */
  readonly backdate = async (day: string) => {
    await this.run(
      `UPDATE expected_payment SET created_at = $2::date, created_at_bank_time = $2::date
       WHERE account_id = $1`,
      this.service().accountId,
      day,
    );
    await this.run(
      `UPDATE rule_version SET activated_at = $2::date, activated_at_bank_time = $2::date
       WHERE account_id = $1 AND state = 'active'`,
      this.service().accountId,
      day,
    );
  };

  /** A debit that an operation of ours has expected since 1 June 2026. */
  readonly addSent = async (cents: number, correlationId?: string): Promise<string> => {
    const sent = {
      cents,
      isCredit: false,
      ...(correlationId === undefined ? {} : { correlationId }),
    };
    const id = await this.addExpectedPayment(sent);
    await this.run(
      `UPDATE expected_payment SET created_at_bank_time = '2026-06-01'
       WHERE account_id = $1 AND id = $2`,
      this.service().accountId,
      id,
    );
    return id;
  };

  readonly link = (nsu: number, expectedPaymentId: string) =>
    this.fixture.link(nsu, expectedPaymentId);
  readonly events = () => this.fixture.events();
  readonly advancedOperations = () =>
    this.fixture.enqueuedJobs.filter(([job]) => job === 'advanceOperation');

  readonly unlink = (nsu: number) => this.fixture.unlink(nsu);

  /** Adds the charge of an expected payment as cancelled at the bank on a day. */
  readonly addCancelledCharge = (expectedPaymentId: string, day: string) =>
    this.run(
      `INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
         amount_cents, checked_at, cancelled_at)
       SELECT account_id, id::text, operation_id, id, 'BANKSLIP_PIX', amount_cents, now(), $3::date
       FROM expected_payment
       WHERE account_id = $1 AND id = $2`,
      this.service().accountId,
      expectedPaymentId,
      day,
    );

  readonly closePeriodUntil = (until: string) =>
    this.run(
      `WITH closed AS (
         INSERT INTO statement_state (account_id, closed_from, closed_until)
         VALUES ($1, '2020-01-01', $2)
         ON CONFLICT (account_id) DO UPDATE SET closed_from = '2020-01-01', closed_until = $2)
       INSERT INTO reconciliation_task (account_id, kind, nsu) VALUES ($1, 'period', -1)`,
      this.service().accountId,
      until,
    );

  /**
   * The outcomes of each line by its nsu: rule, expected payment and cents of its matches, its
   * category, and the kind of its open break.
   */
  readonly outcomes = async (): Promise<Record<string, unknown>> => {
    const { rows } = await this.run(
      `SELECT t.nsu::text,
         (SELECT array_agg(m.rule || ' ' || m.expected_payment_id || ' ' || m.amount_cents
            ORDER BY 1) FROM match m
          WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL) AS matches,
         (SELECT array_agg(b.kind) FROM break b
          WHERE b.account_id = t.account_id AND b.nsu = t.nsu AND b.state = 'open') AS breaks,
         (SELECT array_agg(c.category::text) FROM classification c
          WHERE c.account_id = t.account_id AND c.nsu = t.nsu) AS category
       FROM statement_line t WHERE t.account_id = $1 ORDER BY t.nsu`,
      this.service().accountId,
    );
    return Object.fromEntries(
      (rows as { nsu: string; matches: unknown; breaks: unknown; category: unknown }[]).map(
        (row) => [row.nsu, [row.matches, row.breaks, row.category].filter(Boolean).flat()],
      ),
    );
  };
}

/** A match by a declared rule, as `outcomes` shows it. */
export const matchedByRule = (id: string, cents: number) => `declared ${id} ${cents}`;
