// Loads the components of due subjects, with the facts that decisions are computed from. Nothing
// here reads what a decision has written, except what rules decided and has become final.
import { opaqueAccountId, type Db } from '../database.service.js';
import { sharedReferenceKinds } from '../expected-payments/references.js';
import { Prisma } from '../generated/service/client.js';
import {
  extendComponent,
  effectOfOperation,
  isWithoutResponse,
  maxNamed,
  type ComponentIds,
  type ComponentSeeds,
  type LoadOptions,
  type Selection,
} from './component.queries.js';
import type {
  BillFacts,
  BreakDecision,
  ChargeFacts,
  ExpectedPaymentFacts,
  Facts,
  FinalClassification,
  FinalMatch,
  ManualLink,
  OperationFacts,
  SeparatedPair,
  StatementLineFacts,
  TransferFacts,
} from './decide/model.js';
import type { AppliedRule } from './decide/rule.js';
import { findCompeting, SeenKeys, listActiveRules } from './rules.queries.js';

/**
 * The facts of the components of these subjects, together with what competes with them by match
 * rules: the account's own, or those of a trial.
 */
export async function loadComponents(
  db: Db,
  accountId: number,
  options: LoadOptions,
  seeds: ComponentSeeds,
  rulesInTrial?: readonly AppliedRule[],
): Promise<Facts> {
  const rules = rulesInTrial ?? (await listActiveRules(db, accountId));
  const found: ComponentIds = {
    nsus: new Set(),
    expectedPaymentIds: new Set(),
    operationIds: new Set(),
  };
  const seen = new SeenKeys();
  for (let more = seeds; ;) {
    await extendComponent(db, accountId, found, more, options.effectMs);
    const facts = await loadFacts(db, accountId, options, { selection: found, rules });
    more = await findCompeting(db, accountId, facts, seen);
    const isNew =
      more.nsus.some((nsu) => !found.nsus.has(nsu)) ||
      more.expectedPaymentIds.some((id) => !found.expectedPaymentIds.has(id));
    if (!isNew) return facts;
  }
}

/** The facts of a component, or all facts of an account. */
export async function loadFacts(
  db: Db,
  accountId: number,
  options: LoadOptions,
  { selection, rules }: { selection: Selection; rules: readonly AppliedRule[] },
): Promise<Facts> {
  const { goLiveAt, createdAt } = await db.bankAccount.findUniqueOrThrow({
    where: { id: accountId },
    select: { goLiveAt: true, createdAt: true },
  });
  const state = await db.reconciliationState.findUnique({ where: { accountId } });
  return {
    // Until the bank shows its clock, PostgreSQL's counts.
    goLiveAt: goLiveAt ?? createdAt,
    asOf: state?.asOf ?? null,
    debitMissingMs: options.debitMissingMs,
    operations: await listOperations(db, accountId, selection),
    lines: await listLines(db, accountId, options, selection),
    expectedPayments: await listPaymentFacts(db, accountId, options, selection),
    links: await listManualLinks(db, accountId, selection),
    separated: await listSeparatedPairs(db, accountId, selection),
    finalMatches: await listFinalMatches(db, accountId, selection),
    finalClassifications: await listFinalClassifications(db, accountId, selection),
    decisions: await listBreakDecisions(db, accountId, selection),
    rules,
  };
}

const isLiveByRule = Prisma.sql`
  AND rule IN ('declared', 'counterparty') AND unlinked_at IS NULL`;

/** A table whose rows (alias) belong to the selection, looked up one by one in its index. */
function selected(
  table: 'statement_line' | 'line_decision' | 'match' | 'classification' | 'break',
  alias: string,
  accountId: number,
  selection: Selection,
  condition = Prisma.empty,
): Prisma.Sql {
  const [name, as] = [Prisma.raw(table), Prisma.raw(alias)];
  const ofAccount = Prisma.sql`
    SELECT * FROM ${name} WHERE account_id = ${opaqueAccountId(accountId)} ${condition}`;
  if (selection === 'all') return Prisma.sql`(${ofAccount}) ${as}`;
  return Prisma.sql`unnest(${[...selection.nsus]}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (${ofAccount} AND nsu = wanted.nsu OFFSET 0) ${as}`;
}

async function listLines(
  db: Db,
  accountId: number,
  { freshMs }: LoadOptions,
  selection: Selection,
): Promise<StatementLineFacts[]> {
  return db.$queryRaw`
    SELECT t.nsu, t.is_credit, t.amount_cents, t.type_name, t.occurred_at, t.recorded_at,
           t.idempotency_key, t.movement_id, t.end_to_end_id, t.external_id, t.correlation_id,
           t.bill_code, t.original_end_to_end_id, t.counterparty, t.counterparty_document, t.notes,
           t.recorded_at > clock_timestamp() - ${freshMs} * interval '1 millisecond' AS "isFresh",
           t.is_credit AND t.has_one_holder AND EXISTS (
             SELECT FROM bank_account other
             CROSS JOIN LATERAL (
               SELECT amount_cents, is_credit FROM statement_line
               WHERE account_id = other.id AND end_to_end_id = t.end_to_end_id
               UNION ALL
               SELECT amount_cents, is_credit FROM statement_line
               WHERE account_id = other.id AND movement_id = t.movement_id
             ) sent
             WHERE other.id <> ${accountId} AND NOT sent.is_credit
               AND sent.amount_cents = t.amount_cents
           ) AS "isFromOwnAccount"
    FROM ${selected('statement_line', 't', accountId, selection)}`;
}

/** The operations of the selection; of all, those whose outcome is not known. */
async function listOperations(
  db: Db,
  accountId: number,
  selection: Selection,
): Promise<OperationFacts[]> {
  const selected =
    selection === 'all'
      ? Prisma.sql`o.state IN ('sending', 'unknown', 'needs_operator')`
      : Prisma.sql`o.id = ANY (${[...selection.operationIds]}::uuid[])`;
  if (selection !== 'all' && selection.operationIds.size === 0) return [];
  return db.$queryRaw`
    SELECT o.id, o.kind, o.state, o.reason, o.attempts, expected.cents AS "amountCents"
    FROM operation o
    LEFT JOIN LATERAL (
      SELECT sum(amount_cents)::bigint AS cents FROM expected_payment
      WHERE account_id = o.account_id AND operation_id = o.id
    ) expected ON true
    WHERE o.account_id = ${opaqueAccountId(accountId)} AND ${selected}`;
}

interface LinkRow {
  nsu: bigint;
  actor: string;
  reason: string;
  allocations: { expectedPaymentId: string; cents: string }[];
}

/** The last link of each line that no person has undone, whether it is in effect or not. */
async function listManualLinks(
  db: Db,
  accountId: number,
  selection: Selection,
): Promise<ManualLink[]> {
  const rows = await db.$queryRaw<LinkRow[]>`
    SELECT nsu, actor, reason, allocations FROM (
      SELECT DISTINCT ON (d.nsu) d.* FROM ${selected('line_decision', 'd', accountId, selection)}
      ORDER BY d.nsu, d.sequence DESC
    ) last
    WHERE action = 'link' ORDER BY nsu`;
  return rows.map(({ nsu, actor, reason, allocations }) => ({
    nsu,
    decidedBy: { actor, reason },
    allocations: allocations.map(({ expectedPaymentId, cents }) => ({
      expectedPaymentId,
      amountCents: BigInt(cents),
    })),
  }));
}

async function listSeparatedPairs(
  db: Db,
  accountId: number,
  selection: Selection,
): Promise<SeparatedPair[]> {
  return db.$queryRaw`
    SELECT DISTINCT d.nsu, pair ->> 'expectedPaymentId' AS "expectedPaymentId"
    FROM ${selected('line_decision', 'd', accountId, selection)}
    CROSS JOIN LATERAL jsonb_array_elements(d.allocations) pair
    WHERE d.action = 'unlink'`;
}

/**
 * Whether recomputation keeps what was decided of a line by a rule or its counterparty (of): it is
 * final, or the personal data that it follows from was erased.
 */
const isKept = (accountId: number, of: string) => Prisma.sql`(
  ${Prisma.raw(of)}.final_at IS NOT NULL OR EXISTS (
    SELECT FROM line_erasure erased
    WHERE erased.account_id = ${opaqueAccountId(accountId)}
      AND erased.nsu = ${Prisma.raw(of)}.nsu))`;

type FinalRow = Omit<FinalMatch, 'declared'> & { ruleId: string | null; version: number | null };

/** Matches that recomputation keeps. */
async function listFinalMatches(
  db: Db,
  accountId: number,
  selection: Selection,
): Promise<FinalMatch[]> {
  const rows = await db.$queryRaw<FinalRow[]>`
    SELECT m.nsu, m.expected_payment_id, m.amount_cents, m.rule,
           m.owed_cents, m.evidence ? 'differenceCents' AS "isTolerated",
           m.rule_id, m.rule_version AS version, m.evidence
    FROM ${selected('match', 'm', accountId, selection, isLiveByRule)}
    WHERE ${isKept(accountId, 'm')}`;
  return rows.map(({ ruleId, version, ...row }) => ({
    ...row,
    declared: ruleId === null || version === null ? null : { ruleId, version },
  }));
}

/** Classifications by rules that recomputation keeps. */
async function listFinalClassifications(
  db: Db,
  accountId: number,
  selection: Selection,
): Promise<FinalClassification[]> {
  return db.$queryRaw`
    SELECT c.nsu, c.category, c.reason, c.evidence, c.rule_id, c.rule_version AS version
    FROM ${selected('classification', 'c', accountId, selection, Prisma.sql`AND rule = 'declared'`)}
    WHERE ${isKept(accountId, 'c')}`;
}

/** Decisions about breaks of lines, of expected payments and of operations of the selection. */
async function listBreakDecisions(
  db: Db,
  accountId: number,
  selection: Selection,
): Promise<BreakDecision[]> {
  const ids = selection === 'all' ? [] : [...selection.expectedPaymentIds];
  const ofPayments =
    selection === 'all'
      ? Prisma.empty
      : Prisma.sql`UNION
          SELECT b.* FROM unnest(${ids}::uuid[]) AS wanted(id)
          CROSS JOIN LATERAL (
            SELECT id, operation_id, is_credit AND is_multi_use AS is_code FROM expected_payment
            WHERE account_id = ${opaqueAccountId(accountId)} AND id = wanted.id OFFSET 0
          ) e
          -- A QR code has thousands of payments, whose breaks are found by their lines.
          CROSS JOIN LATERAL (
            SELECT * FROM break
            WHERE account_id = ${opaqueAccountId(accountId)} AND NOT e.is_code
              AND expected_payment_id = e.id
            UNION
            SELECT * FROM break
            WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = e.operation_id
              AND kind = 'late_line'
          ) b
          UNION
          SELECT b.* FROM unnest(${[...selection.operationIds]}::uuid[]) AS wanted(id)
          CROSS JOIN LATERAL (
            SELECT * FROM break
            WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = wanted.id
              AND kind = 'unknown_outcome' OFFSET 0
          ) b`;
  return db.$queryRaw`
    SELECT b.id AS "breakId", b.kind, b.subject, b.nsu, b.expected_payment_id, e.action, e.actor,
           e.reason,
           COALESCE(e.detail ->> 'cents', e.detail ->> 'ofCents')::bigint AS cents,
           r.expected_payment_id AS "refundPaymentId"
    FROM (SELECT b.* FROM ${selected('break', 'b', accountId, selection)} ${ofPayments}) b
    CROSS JOIN LATERAL (
      SELECT * FROM break_history_entry
      WHERE account_id = ${opaqueAccountId(accountId)} AND break_id = b.id OFFSET 0
    ) e
    LEFT JOIN operation_identity i ON i.account_id = ${opaqueAccountId(accountId)}
      AND i.kind = 'refund_pix' AND i.identity = 'key ' || (e.detail ->> 'key')
    LEFT JOIN refund r ON r.account_id = i.account_id AND r.id = i.operation_id
    WHERE e.actor IS NOT NULL
      AND e.action IN ('accept', 'refund', 'reopen', 'link', 'unlink', 'resend')
    ORDER BY e.sequence`;
}

type ExpectedPaymentRow = Omit<ExpectedPaymentFacts, 'effect' | 'charge' | 'transfer' | 'bill'> & {
  effectFrom: Date | null;
  effectUntil: Date | null;
  chargeCorrelationId: string | null;
  chargeType: string | null;
  transferId: string | null;
  transferEndToEndId: string | null;
  billState: string | null;
} & Omit<ChargeFacts, 'correlationId' | 'type'> &
  Omit<TransferFacts, 'id' | 'endToEndId'> &
  Omit<BillFacts, 'state'>;

const chargeColumns = Prisma.sql`
  c.correlation_id AS "chargeCorrelationId", c.type AS "chargeType",
  c.cancelled_at, c.expired_at,
  c.bank_due_date`;

const transferColumns = (freshMs: number) => Prisma.sql`
  t.id AS "transferId", t.external_id, t.end_to_end_id AS "transferEndToEndId",
  t.error_code,
  CASE WHEN t.state = 'failed' THEN
    CASE WHEN t.updated_at > clock_timestamp() - ${freshMs} * interval '1 millisecond'
         THEN 'recent' ELSE 'past' END
  END AS failure`;

const billColumns = Prisma.sql`
  p.state AS "billState", p.bank_id, p.bank_status,
  p.scheduled_for, p.may_go_until,
  p.freed_at IS NOT NULL AS "isFreed",
  p.id IS NOT NULL AND EXISTS (
    SELECT FROM bill_payment other
    WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
      AND other.state <> 'failed' AND other.state <> 'rejected' AND other.freed_at IS NULL
  ) AS "hasOtherLive"`;

/** The references of a payment (e). One that names too many payments names none of them. */
const knownReferences = (accountId: number) => Prisma.sql`
  SELECT COALESCE(jsonb_agg(jsonb_build_object('kind', kind, 'value', value)), '[]') AS list
  FROM (
    SELECT kind, value FROM expected_payment_reference
    WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = e.id OFFSET 0
  ) reference
  WHERE kind = ANY (${sharedReferenceKinds}::text[]) OR (
    SELECT count(*) FROM (
      SELECT FROM expected_payment_reference other
      WHERE other.account_id = ${opaqueAccountId(accountId)} AND other.kind = reference.kind
        AND other.value = reference.value
      LIMIT ${maxNamed + 1}
    ) named
  ) <= ${maxNamed}`;

export async function listPaymentFacts(
  db: Db,
  accountId: number,
  { effectMs, freshMs }: LoadOptions,
  selection: Selection,
): Promise<ExpectedPaymentFacts[]> {
  const ofAccount = Prisma.sql`account_id = ${opaqueAccountId(accountId)}`;
  const payments =
    selection === 'all'
      ? Prisma.sql`(SELECT * FROM expected_payment WHERE ${ofAccount}) e`
      : Prisma.sql`unnest(${[...selection.expectedPaymentIds]}::uuid[]) AS wanted(id)
          CROSS JOIN LATERAL (
            SELECT * FROM expected_payment WHERE ${ofAccount} AND id = wanted.id OFFSET 0) e`;
  // Each look-up uses its index, whatever the statistics say.
  const one = (table: string, alias: string, condition: Prisma.Sql) => Prisma.sql`
    LEFT JOIN LATERAL (
      SELECT * FROM ${Prisma.raw(table)} WHERE ${ofAccount} AND ${condition} OFFSET 0
    ) ${Prisma.raw(alias)} ON true`;
  const isOfPayment = Prisma.sql`expected_payment_id = e.id`;
  const rows = await db.$queryRaw<ExpectedPaymentRow[]>`
    SELECT e.id, e.operation_id, e.kind, e.is_credit, e.amount_cents, e.due_date, e.terms,
           e.is_multi_use, e.counterparty_document,
           e.created_at, e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           COALESCE(e.created_at_bank_time, e.created_at + clock.ahead) AS "createdAtBankTime",
           known.list AS "references", o.state AS "operationState",
           COALESCE(${isWithoutResponse}, false) AS "isWithoutResponse",
           effect."from" AS "effectFrom", effect."until" AS "effectUntil",
           GREATEST(o.effective_from, p.scheduled_for, o.ended_at + COALESCE(
             attempt.clock_offset_ms * interval '1 millisecond', clock.ahead)) AS "effectiveAt",
           fact.kind AS withdrawal, r.original_nsu AS "refundOfNsu",
           ${chargeColumns}, ${transferColumns(freshMs)}, ${billColumns}
    FROM ${payments}
    ${one('operation', 'o', Prisma.sql`id = e.operation_id`)}
    ${one('charge', 'c', isOfPayment)}
    ${one('refund', 'r', isOfPayment)}
    ${one('transfer', 't', isOfPayment)}
    ${one('bill_payment', 'p', isOfPayment)}
    LEFT JOIN LATERAL (
      SELECT clock_offset_ms FROM (
        SELECT number, clock_offset_ms FROM operation_attempt
        WHERE ${ofAccount} AND operation_id = o.id OFFSET 0
      ) made ORDER BY number DESC LIMIT 1
    ) attempt ON true
    CROSS JOIN (
      -- What was recorded before the first sync goes by the offset that it measured.
      SELECT COALESCE(max(first_clock_offset_ms), 0) * interval '1 millisecond' AS ahead
      FROM statement_state WHERE ${ofAccount}
    ) clock
    LEFT JOIN LATERAL (${effectOfOperation(accountId, effectMs)}) effect
      ON o.id IS NOT NULL AND NOT e.is_credit AND ${isWithoutResponse}
    CROSS JOIN LATERAL (${knownReferences(accountId)}) known
    LEFT JOIN LATERAL (
      SELECT nullif(kind, 'expected_again') AS kind FROM (
        SELECT * FROM expected_payment_fact WHERE ${ofAccount} AND ${isOfPayment} OFFSET 0
      ) known_fact
      WHERE kind <> 'absence_revoked' ORDER BY sequence DESC LIMIT 1
    ) fact ON true`;
  return rows.map(toExpectedPayment);
}

/** Names each field: copies of what is left over take a hundred times as long. */
function toExpectedPayment(row: ExpectedPaymentRow): ExpectedPaymentFacts {
  const { effectFrom: from, effectUntil: until } = row;
  return {
    id: row.id,
    operationId: row.operationId,
    kind: row.kind,
    isCredit: row.isCredit,
    amountCents: row.amountCents,
    dueDate: row.dueDate,
    terms: row.terms,
    isMultiUse: row.isMultiUse,
    counterpartyDocument: row.counterpartyDocument,
    createdAt: row.createdAt,
    createdAtBankTime: row.createdAtBankTime,
    references: row.references,
    operationState: row.operationState,
    isWithoutResponse: row.isWithoutResponse,
    effect: from && until && { from, until },
    withdrawal: row.withdrawal,
    isWithdrawn: row.isWithdrawn,
    effectiveAt: row.effectiveAt,
    refundOfNsu: row.refundOfNsu,
    charge: chargeOf(row),
    transfer: transferOf(row),
    bill: billOf(row),
  };
}

function chargeOf(row: ExpectedPaymentRow): ChargeFacts | null {
  const { chargeCorrelationId: correlationId, chargeType: type } = row;
  if (correlationId === null || type === null) return null;
  const { cancelledAt, expiredAt, bankDueDate } = row;
  return { correlationId, type, cancelledAt, expiredAt, bankDueDate };
}

function transferOf(row: ExpectedPaymentRow): TransferFacts | null {
  const { transferId: id, externalId, transferEndToEndId: endToEndId, errorCode, failure } = row;
  return id === null ? null : { id, externalId, endToEndId, errorCode, failure };
}

function billOf(row: ExpectedPaymentRow): BillFacts | null {
  const { billState: state, bankId, bankStatus, scheduledFor, mayGoUntil } = row;
  if (state === null) return null;
  const { isFreed, hasOtherLive } = row;
  return { state, bankId, bankStatus, scheduledFor, mayGoUntil, isFreed, hasOtherLive };
}
