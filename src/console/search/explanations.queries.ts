// Why lines are explained as they are: what is stored of the decisions about some lines, read for
// all of them at once.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type Classification,
  type Match,
  type StatementLine,
} from '../../generated/service/client.js';

export interface LineMatch
  extends
    Pick<Match, 'nsu' | 'expectedPaymentId' | 'amountCents' | 'role' | 'rule'>,
    Pick<Match, 'ruleId' | 'ruleVersion' | 'madeBy' | 'reason' | 'createdAt'> {
  evidence: unknown;
  /** Of the account's own rule. */
  ruleName: string | null;
  /** Of the expected payment: its operation's kind, or `declared`. */
  kind: string;
  operationId: string | null;
  transferId: string | null;
  /** What people call the record: an id that was chosen for it, its bar code, the refunded line. */
  label: string | null;
}

/** The live matches of lines, in their order, and so many of each line. */
export async function listMatchesOfLines(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
  limit: number,
): Promise<LineMatch[]> {
  const account = opaqueAccountId(accountId);
  const ofPayment = (table: Prisma.Sql) => Prisma.sql`
    SELECT * FROM ${table}
    WHERE account_id = ${account} AND expected_payment_id = m.expected_payment_id OFFSET 0`;
  return db.$queryRaw<LineMatch[]>`
    SELECT m.nsu, m.expected_payment_id, m.amount_cents, m.role, m.rule, m.rule_id, m.rule_version,
           m.made_by, m.reason, m.created_at, m.evidence, rule.name AS "ruleName", e.kind,
           e.operation_id, t.id AS "transferId",
           COALESCE(c.correlation_id, e.external_id, t.external_id, t.end_to_end_id, b.bar_code,
                    r.original_nsu::text) AS label
    FROM unnest(${[...nsus]}::bigint[]) AS line (nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM match
      WHERE account_id = ${account} AND nsu = line.nsu AND unlinked_at IS NULL
      ORDER BY expected_payment_id LIMIT ${limit}
    ) m
    CROSS JOIN LATERAL (
      SELECT kind, operation_id, external_id FROM expected_payment
      WHERE account_id = ${account} AND id = m.expected_payment_id OFFSET 0
    ) e
    LEFT JOIN LATERAL (${ofPayment(Prisma.sql`charge`)}) c ON true
    LEFT JOIN LATERAL (${ofPayment(Prisma.sql`transfer`)}) t ON true
    LEFT JOIN LATERAL (${ofPayment(Prisma.sql`bill_payment`)}) b ON true
    LEFT JOIN LATERAL (${ofPayment(Prisma.sql`refund`)}) r ON true
    LEFT JOIN rule ON rule.account_id = ${account} AND rule.id = m.rule_id
    ORDER BY m.nsu, m.expected_payment_id`;
}

export interface LineClassification
  extends
    Pick<Classification, 'nsu' | 'category' | 'rule' | 'reason'>,
    Pick<Classification, 'ruleId' | 'ruleVersion' | 'createdAt'> {
  evidence: unknown;
  ruleName: string | null;
}

export async function listClassificationsOfLines(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<LineClassification[]> {
  const account = opaqueAccountId(accountId);
  return db.$queryRaw<LineClassification[]>`
    SELECT c.nsu, c.category, c.rule, c.reason, c.rule_id, c.rule_version, c.created_at,
           c.evidence, rule.name AS "ruleName"
    FROM unnest(${[...nsus]}::bigint[]) AS line (nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM classification WHERE account_id = ${account} AND nsu = line.nsu OFFSET 0
    ) c
    LEFT JOIN rule ON rule.account_id = ${account} AND rule.id = c.rule_id
    ORDER BY c.nsu`;
}

export interface LineNotice extends Pick<StatementLine, 'nsu'> {
  /** By our clock. */
  receivedAt: Date;
  /** The kind of id by which the webhook named the line. */
  referenceKind: string;
}

/**
 * The first webhook that named each line. A correlationId may be that of many payments: of those,
 * the first webhook after the line happened, and not one of another payment days later.
 */
export async function listNoticesOfLines(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<LineNotice[]> {
  const account = opaqueAccountId(accountId);
  const first = (kind: string, reference: Prisma.Sql, extra: Prisma.Sql, time: Prisma.Sql) =>
    Prisma.sql`(
      SELECT received_at, reference_kind FROM webhook_event
      WHERE account_id = ${account} AND reference_kind = '${Prisma.raw(kind)}'
        AND reference = ${reference} ${extra}
      ORDER BY ${time} LIMIT 1)`;
  const received = Prisma.sql`received_at`;
  return db.$queryRaw<LineNotice[]>`
    SELECT t.nsu, notice.received_at, notice.reference_kind AS "referenceKind"
    FROM unnest(${[...nsus]}::bigint[]) AS line (nsu)
    CROSS JOIN LATERAL (
      SELECT nsu, end_to_end_id, correlation_id, occurred_at FROM statement_line
      WHERE account_id = ${account} AND nsu = line.nsu OFFSET 0
    ) t
    CROSS JOIN LATERAL (
      SELECT * FROM (
        ${first('nsu', Prisma.sql`t.nsu::text`, Prisma.empty, received)}
        UNION ALL
        ${first('end_to_end_id', Prisma.sql`t.end_to_end_id`, Prisma.empty, received)}
        UNION ALL
        ${first(
          'correlation_id',
          Prisma.sql`t.correlation_id`,
          Prisma.sql`AND received_at_bank_time BETWEEN t.occurred_at - interval '1 minute'
            AND t.occurred_at + interval '1 day'`,
          Prisma.sql`received_at_bank_time`,
        )}
      ) each
      ORDER BY received_at LIMIT 1
    ) notice
    ORDER BY t.nsu`;
}

export interface Neighbours {
  previous: bigint | null;
  next: bigint | null;
}

/** The lines before and after a line. */
export async function findNeighbours(db: Db, accountId: number, nsu: bigint): Promise<Neighbours> {
  const account = opaqueAccountId(accountId);
  const [row] = await db.$queryRaw<Neighbours[]>`
    SELECT (SELECT max(nsu) FROM statement_line WHERE account_id = ${account} AND nsu < ${nsu})
             AS previous,
           (SELECT min(nsu) FROM statement_line WHERE account_id = ${account} AND nsu > ${nsu})
             AS next`;
  return row ?? { previous: null, next: null };
}
