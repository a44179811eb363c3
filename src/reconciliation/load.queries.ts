// Loads the facts that decisions are computed from. Nothing here reads what a decision has written,
// except what rules decided and has become final.
import { opaqueAccountId, type Db } from '../database.service.js';
import { visibilityBoundOrDefaultMs, type BankProfile } from '../bank/profiles.js';
import { sharedReferenceKinds } from '../expected-payments/references.js';
import { Prisma } from '../generated/service/client.js';
import { maxNamed, type ComponentIds } from './component.queries.js';
import type {
  BreakDecision,
  ChargeFacts,
  ExpectedPaymentFacts,
  Facts,
  FinalClassification,
  FinalMatch,
  ManualLink,
  SeparatedPair,
  StatementLineFacts,
  TransferFacts,
} from './decide/model.js';
import { effectOfOperation, isWithoutResponse } from './operation-effect.queries.js';
import type { AppliedRule } from './decide/rule.js';
import { listActiveRules } from './rules/rules.queries.js';

/** How late something may show on the statement. */
export interface LoadOptions {
  /** A debit after the last attempt of its operation. */
  effectMs: number;
  /** A line that another line refunds or reverses, and the reversal of a failed transfer. */
  freshMs: number;
}

/** For banks without a known visibility bound: their analysis of a Pix takes up to an hour. */
const defaultEffectMs = 3_600_000;

export function loadOptionsOf(profile: BankProfile): LoadOptions {
  return {
    effectMs: profile.visibilityBoundMs ?? defaultEffectMs,
    freshMs: visibilityBoundOrDefaultMs(profile),
  };
}

/** Which rows to read: those of a component, or all of the account. */
type Selection = ComponentIds | 'all';

/** The facts of a component, or all facts of an account. */
export async function loadFacts(
  db: Db,
  accountId: number,
  options: LoadOptions,
  selection: Selection = 'all',
): Promise<Facts> {
  const { goLiveAt } = await db.bankAccount.findUniqueOrThrow({
    where: { id: accountId },
    select: { goLiveAt: true },
  });
  return {
    goLiveAt,
    lines: await listLines(db, accountId, options, selection),
    expectedPayments: await listExpectedPayments(db, accountId, options, selection),
    links: await listManualLinks(db, accountId, selection),
    separated: await listSeparatedPairs(db, accountId, selection),
    finalMatches: await listFinalMatches(db, accountId, selection),
    finalClassifications: await listFinalClassifications(db, accountId, selection),
    decisions: await listBreakDecisions(db, accountId, selection),
    rules: await listRulesInBankTime(db, accountId),
  };
}

const isLiveByCounterparty = Prisma.sql`AND rule = 'counterparty' AND unlinked_at IS NULL`;
/** The active rules, with their activation in bank time. */
async function listRulesInBankTime(db: Db, accountId: number): Promise<AppliedRule[]> {
  const state = await db.statementState.findUnique({
    where: { accountId },
    select: { clockOffsetMs: true },
  });
  const aheadMs = Number(state?.clockOffsetMs ?? 0n);
  return (await listActiveRules(db, accountId)).map(({ activatedAt, ...rule }) => ({
    ...rule,
    activatedAt: activatedAt ? new Date(activatedAt.getTime() + aheadMs) : null,
  }));
}

/** The condition of the index match_declared. */
const isLiveByRule = Prisma.sql`AND rule = 'declared' AND unlinked_at IS NULL`;

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
    SELECT t.nsu, t.is_credit AS "isCredit", t.amount_cents AS "amountCents",
           t.type_name AS "typeName", t.occurred_at AS "occurredAt", t.recorded_at AS "recordedAt",
           t.idempotency_key AS "idempotencyKey", t.movement_id AS "movementId",
           t.end_to_end_id AS "endToEndId", t.external_id AS "externalId",
           t.correlation_id AS "correlationId", t.bill_code AS "billCode",
           t.original_end_to_end_id AS "originalEndToEndId", t.counterparty,
           t.counterparty_document AS "counterpartyDocument", t.notes,
           t.recorded_at > clock_timestamp() - ${freshMs} * interval '1 millisecond' AS "isFresh",
           t.is_credit AND EXISTS (
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
           ) AS "isFromOtherAccount"
    FROM ${selected('statement_line', 't', accountId, selection)}`;
}

type ExpectedPaymentRow = Omit<ExpectedPaymentFacts, 'effect' | 'charge' | 'transfer'> & {
  effectFrom: Date | null;
  effectUntil: Date | null;
  chargeCorrelationId: string | null;
  chargeType: string | null;
  transferId: string | null;
  transferEndToEndId: string | null;
} & Omit<ChargeFacts, 'correlationId' | 'type'> &
  Omit<TransferFacts, 'id' | 'endToEndId'>;

async function listExpectedPayments(
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
    SELECT e.id, e.operation_id AS "operationId", e.kind, e.is_credit AS "isCredit",
           e.amount_cents AS "amountCents", e.due_date AS "dueDate", e.terms,
           e.is_multi_use AS "isMultiUse", e.counterparty_document AS "counterpartyDocument",
           e.created_at AS "createdAt",
           COALESCE(e.created_at_bank_time, e.created_at + clock.ahead) AS "createdAtBankTime",
           known.list AS "references", o.state AS "operationState",
           COALESCE(${isWithoutResponse}, false) AS "isWithoutResponse",
           effect."from" AS "effectFrom", effect."until" AS "effectUntil",
           fact.kind AS withdrawal, c.correlation_id AS "chargeCorrelationId",
           c.type AS "chargeType", c.cancelled_at AS "cancelledAt", c.expired_at AS "expiredAt",
           r.original_nsu AS "refundOfNsu", t.id AS "transferId", t.external_id AS "externalId",
           t.end_to_end_id AS "transferEndToEndId", t.error_code AS "errorCode",
           CASE WHEN t.state = 'failed' THEN
             CASE WHEN t.updated_at > clock_timestamp() - ${freshMs} * interval '1 millisecond'
                  THEN 'recent' ELSE 'past' END
           END AS failure
    FROM ${payments}
    ${one('operation', 'o', Prisma.sql`id = e.operation_id`)}
    ${one('charge', 'c', isOfPayment)}
    ${one('refund', 'r', isOfPayment)}
    ${one('transfer', 't', isOfPayment)}
    CROSS JOIN (
      SELECT COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS ahead
      FROM statement_state WHERE ${ofAccount}
    ) clock
    LEFT JOIN LATERAL (${effectOfOperation(accountId, effectMs)}) effect
      ON o.id IS NOT NULL AND NOT e.is_credit AND ${isWithoutResponse}
    CROSS JOIN LATERAL (
      SELECT COALESCE(jsonb_agg(jsonb_build_object('kind', kind, 'value', value)), '[]') AS list
      FROM (
        SELECT kind, value FROM expected_payment_reference WHERE ${ofAccount} AND ${isOfPayment}
        OFFSET 0
      ) reference
      -- A reference that names too many payments names none of them.
      WHERE kind = ANY (${sharedReferenceKinds}::text[]) OR (
        SELECT count(*) FROM (
          SELECT FROM expected_payment_reference other
          WHERE ${ofAccount} AND other.kind = reference.kind AND other.value = reference.value
          LIMIT ${maxNamed + 1}
        ) named
      ) <= ${maxNamed}
    ) known
    LEFT JOIN LATERAL (
      SELECT nullif(kind, 'expected_again') AS kind FROM (
        SELECT * FROM expected_payment_fact WHERE ${ofAccount} AND ${isOfPayment} OFFSET 0
      ) known_fact
      WHERE kind <> 'absence_revoked' ORDER BY sequence DESC LIMIT 1
    ) fact ON true`;
  return rows.map(toExpectedPayment);
}

function toExpectedPayment(row: ExpectedPaymentRow): ExpectedPaymentFacts {
  const { effectFrom: from, effectUntil: until, chargeCorrelationId, chargeType, ...rest } = row;
  const { cancelledAt, expiredAt, transferId, transferEndToEndId, ...others } = rest;
  const { externalId, errorCode, failure, ...payment } = others;
  return {
    ...payment,
    effect: from && until && { from, until },
    charge:
      chargeCorrelationId === null || chargeType === null
        ? null
        : { correlationId: chargeCorrelationId, type: chargeType, cancelledAt, expiredAt },
    transfer:
      transferId === null
        ? null
        : { id: transferId, externalId, endToEndId: transferEndToEndId, errorCode, failure },
  };
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
 * Whether what a rule decided about a line (t) is final: its period was closed, or its personal
 * data was erased, so that a recomputation could not find it again.
 */
const isFinal = (accountId: number) => Prisma.sql`(
  EXISTS (
    SELECT FROM statement_state s
    WHERE s.account_id = ${opaqueAccountId(accountId)}
      AND t.occurred_at >= s.closed_from AND t.occurred_at < s.closed_until)
  OR EXISTS (
    SELECT FROM line_erasure erased
    WHERE erased.account_id = ${opaqueAccountId(accountId)} AND erased.nsu = t.nsu))`;

const lineOf = (accountId: number, alias: string) => Prisma.sql`
  CROSS JOIN LATERAL (
    SELECT nsu, occurred_at FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${Prisma.raw(alias)}.nsu OFFSET 0
  ) t`;

type FinalRow = Omit<FinalMatch, 'declared'> & { ruleId: string | null; version: number | null };

/**
 * Matches that recomputation keeps: of rules that are final, of rules whose charge was cancelled
 * since, because a cancelled charge is no candidate, and of erased counterparties.
 */
async function listFinalMatches(
  db: Db,
  accountId: number,
  selection: Selection,
): Promise<FinalMatch[]> {
  const rows = await db.$queryRaw<FinalRow[]>`
    SELECT m.nsu, m.expected_payment_id AS "expectedPaymentId", m.amount_cents AS "amountCents",
           m.rule, m.owed_cents AS "owedCents", m.evidence ? 'differenceCents' AS "isTolerated",
           m.rule_id AS "ruleId", m.rule_version AS version, m.evidence
    FROM ${selected('match', 'm', accountId, selection, isLiveByRule)}
    ${lineOf(accountId, 'm')}
    WHERE ${isFinal(accountId)} OR EXISTS (
      SELECT FROM (
        SELECT expected_payment_id, unlinked_at FROM match
        WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = m.nsu OFFSET 0
      ) paying
      JOIN charge c ON c.account_id = ${opaqueAccountId(accountId)}
        AND c.expected_payment_id = paying.expected_payment_id
      WHERE paying.unlinked_at IS NULL AND c.cancelled_at IS NOT NULL)
    UNION ALL
    SELECT m.nsu, m.expected_payment_id, m.amount_cents, m.rule, m.owed_cents, false, NULL, NULL,
           m.evidence
    FROM ${selected('match', 'm', accountId, selection, isLiveByCounterparty)}
    WHERE EXISTS (
      SELECT FROM line_erasure erased
      WHERE erased.account_id = ${opaqueAccountId(accountId)} AND erased.nsu = m.nsu)`;
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
    SELECT c.nsu, c.category, c.reason, c.evidence, c.rule_id AS "ruleId",
           c.rule_version AS version
    FROM ${selected('classification', 'c', accountId, selection, Prisma.sql`AND rule = 'declared'`)}
    ${lineOf(accountId, 'c')}
    WHERE ${isFinal(accountId)}`;
}

/** Decisions about breaks of lines, and of the expected payments of the selection. */
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
            WHERE account_id = ${opaqueAccountId(accountId)} AND kind = 'late_line'
              AND subject = 'operation:' || e.operation_id
          ) b`;
  return db.$queryRaw`
    SELECT b.id AS "breakId", b.kind, b.subject, b.nsu,
           b.expected_payment_id AS "expectedPaymentId", e.action, e.actor, e.reason,
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
    WHERE e.actor IS NOT NULL AND e.action IN ('accept', 'refund', 'reopen', 'link', 'unlink')
    ORDER BY e.sequence`;
}
