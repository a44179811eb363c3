// SQL that finds the candidates of a break: expected payments for a line, and lines in open
// breaks for an expected payment. It searches by keys, and examines a bounded number of rows for
// each, so its cost does not grow with history.
import type { Db } from '../../platform/postgres/database.service.js';
import {
  dueDatesColumn,
  type StoredDueDates,
} from '../../statement/expected-payments/due-dates.queries.js';
import { lineReferenceKinds } from '../../statement/expected-payments/references.js';
import {
  Prisma,
  type ExpectedPayment,
  type StatementLine,
} from '../../generated/service/client.js';
import { lineBreakKinds } from '../decide/break-kinds.js';

const candidateLimit = 100;
/** Of each amount, and of the amounts on either side of it, so many rows are examined. */
const amountLimit = 100;
/** Of each kind, the notes of so many lines are searched, the newest breaks first. */
const notesLimit = 100;
/** The columns of a line with ids as text, each with an index. */
const idColumns = lineReferenceKinds
  .filter(({ kind }) => kind !== 'nsu')
  .map(({ column }) => Prisma.raw(column));
/** How far a line and the creation of an expected payment may be apart. */
const window = Prisma.sql`interval '60 days'`;

export interface CandidateRow {
  expectedPaymentId: string | null;
  nsu: bigint | null;
  kind: string;
  amountCents: bigint | null;
  day: string;
  /** Discount, fine and interest of the expected payment. */
  terms: string | null;
  dueDate: string | null;
  dueDates: StoredDueDates;
  isSameDocument: boolean;
  isSameReference: boolean;
}

interface NearRows extends Record<'select' | 'table' | 'where', Prisma.Sql> {
  /** Of the rows with the amount itself: ranges, each from its nearest row on. */
  same: { isIn: Prisma.Sql; order: Prisma.Sql }[];
  /** A condition of the rows with other amounts, which no index may be read by. */
  isNear?: Prisma.Sql;
}

const always = Prisma.sql`true`;

/**
 * A query of the rows with nearly this amount: those with the amount itself, and those with the
 * nearest amounts on either side.
 */
function nearAmount(
  { select, table, where, same, isNear = always }: NearRows,
  cents: bigint | null,
): Prisma.Sql {
  const part = (condition: Prisma.Sql, order: Prisma.Sql) => Prisma.sql`(
    SELECT ${select} FROM ${table} WHERE ${where} AND ${condition}
    ORDER BY ${order} LIMIT ${amountLimit})`;
  return Prisma.join(
    [
      ...same.map(({ isIn, order }) =>
        part(Prisma.sql`amount_cents = ${cents}::bigint AND ${isIn}`, order),
      ),
      part(
        Prisma.sql`amount_cents > ${cents}::bigint AND amount_cents <= ${cents}::bigint * 10 / 9
          AND ${isNear}`,
        Prisma.sql`amount_cents`,
      ),
      part(
        Prisma.sql`amount_cents < ${cents}::bigint AND amount_cents >= ${cents}::bigint * 9 / 10
          AND ${isNear}`,
        Prisma.sql`amount_cents DESC`,
      ),
    ],
    ' UNION ALL ',
  );
}

/** Open expected payments that share a document, an id or nearly the amount with a line. */
export async function listSimilarExpectedPayments(
  db: Db,
  accountId: number,
  line: StatementLine,
  ids: string[],
): Promise<CandidateRow[]> {
  const { isCredit, amountCents, counterpartyDocument: document, occurredAt } = line;
  const ofAmount = {
    select: Prisma.sql`id`,
    table: Prisma.sql`expected_payment`,
    where: Prisma.sql`account_id = ${accountId} AND is_credit = ${isCredit}`,
    same: [
      {
        isIn: Prisma.sql`created_at <= ${occurredAt}::timestamptz
          AND created_at >= ${occurredAt}::timestamptz - ${window}`,
        order: Prisma.sql`created_at DESC`,
      },
      {
        isIn: Prisma.sql`created_at > ${occurredAt}::timestamptz
          AND created_at <= ${occurredAt}::timestamptz + ${window}`,
        order: Prisma.sql`created_at`,
      },
    ],
    // By an index of it, all payments of these months would be read.
    isNear: Prisma.sql`created_at + interval '0'
      BETWEEN ${occurredAt}::timestamptz - ${window} AND ${occurredAt}::timestamptz + ${window}`,
  };
  return db.$queryRaw<CandidateRow[]>`
    WITH referenced AS (
      SELECT DISTINCT expected_payment_id AS id FROM expected_payment_reference
      WHERE account_id = ${accountId} AND value = ANY (${ids}::text[])
        AND kind = ANY (${lineReferenceKinds.map(({ kind }) => kind)}::text[])
      LIMIT ${candidateLimit}
    ), similar_payment AS (
      (SELECT id FROM referenced)
      UNION
      (SELECT id FROM expected_payment
       WHERE account_id = ${accountId} AND counterparty_document = ${document}
       ORDER BY created_at DESC LIMIT ${candidateLimit})
      UNION
      (${nearAmount(ofAmount, amountCents)})
    )
    SELECT e.id AS "expectedPaymentId", NULL::bigint AS nsu, e.kind,
           CASE WHEN e.is_multi_use THEN e.amount_cents
                ELSE e.amount_cents - paid.cents END AS "amountCents",
           COALESCE(e.due_date,
             to_char(e.created_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')) AS day,
           e.terms, e.due_date, ${dueDatesColumn(Prisma.sql`${accountId}`)} AS due_dates,
           e.counterparty_document IS NOT DISTINCT FROM ${document}
             AND e.counterparty_document IS NOT NULL AS "isSameDocument",
           referenced.id IS NOT NULL AS "isSameReference"
    FROM similar_payment
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment
      WHERE account_id = ${accountId} AND id = similar_payment.id OFFSET 0
    ) e
    LEFT JOIN referenced ON referenced.id = similar_payment.id
    LEFT JOIN LATERAL (
      SELECT paid_cents FROM expected_payment_total
      WHERE account_id = ${accountId} AND expected_payment_id = similar_payment.id OFFSET 0
    ) total ON true
    CROSS JOIN LATERAL (SELECT COALESCE(total.paid_cents, 0) AS cents) paid
    WHERE e.is_credit = ${isCredit}
      AND (e.is_multi_use OR e.amount_cents IS NULL OR paid.cents < e.amount_cents)
    ORDER BY e.id LIMIT ${3 * candidateLimit + 2 * amountLimit}`;
}

/**
 * Lines in open breaks that share a document, an id or nearly the amount with an expected
 * payment.
 */
export async function listSimilarLines(
  db: Db,
  accountId: number,
  expected: Pick<ExpectedPayment, 'isCredit' | 'counterpartyDocument'> & {
    wantedCents: bigint | null;
    /** Ids that the line may carry, or contain in its notes. */
    ids: string[];
  },
): Promise<CandidateRow[]> {
  const { isCredit, counterpartyDocument: document, wantedCents, ids } = expected;
  const carrying = idColumns.map(
    (column) => Prisma.sql`(
      SELECT nsu FROM statement_line
      WHERE account_id = ${accountId} AND ${column} = ANY (${ids}::text[])
      LIMIT ${candidateLimit})`,
  );
  const ofAmount = {
    select: Prisma.sql`nsu`,
    table: Prisma.sql`break`,
    where: Prisma.sql`account_id = ${accountId} AND state = 'open' AND nsu IS NOT NULL`,
    same: [{ isIn: always, order: Prisma.sql`nsu DESC` }],
  };
  return db.$queryRaw<CandidateRow[]>`
    SELECT NULL::text AS "expectedPaymentId", t.nsu, t.type_name AS kind,
           t.amount_cents,
           to_char(t.occurred_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') AS day,
           NULL::text AS terms, NULL::text AS "dueDate", NULL::json AS "dueDates",
           COALESCE(t.counterparty_document = ${document}, false) AS "isSameDocument",
           shared.is_referenced AS "isSameReference"
    FROM (
      ${Prisma.join(carrying, ' UNION ')}
      UNION
      (SELECT nsu FROM statement_line
       WHERE account_id = ${accountId} AND counterparty_document = ${document}
       ORDER BY occurred_at DESC LIMIT ${candidateLimit})
      UNION
      (${nearAmount(ofAmount, wantedCents)})
      UNION
      SELECT newest.nsu FROM unnest(${[...lineBreakKinds]}::text[]) AS of(kind)
      CROSS JOIN LATERAL (
        SELECT nsu FROM break
        WHERE account_id = ${accountId} AND kind = of.kind AND state = 'open'
        ORDER BY id DESC LIMIT ${ids.length > 0 ? notesLimit : 0}
      ) newest
    ) similar_line
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${accountId} AND nsu = similar_line.nsu OFFSET 0
    ) t
    CROSS JOIN LATERAL (
      SELECT EXISTS (
        SELECT FROM unnest(${ids}::text[]) value
        WHERE value IN (${Prisma.join(idColumns)})
          OR position(value IN t.notes) > 0) AS is_referenced
    ) shared
    WHERE t.is_credit = ${isCredit}
      AND (shared.is_referenced OR t.counterparty_document = ${document}
           OR t.amount_cents BETWEEN ${wantedCents}::bigint * 9 / 10
             AND ${wantedCents}::bigint * 10 / 9)
      AND EXISTS (SELECT FROM break b
        WHERE b.account_id = ${accountId} AND b.nsu = t.nsu AND b.state = 'open'
          AND b.kind = ANY (${[...lineBreakKinds]}::text[]))
      AND NOT EXISTS (SELECT 1 FROM match m
        WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
    ORDER BY abs(t.amount_cents - COALESCE(${wantedCents}::bigint, t.amount_cents)), t.nsu
    LIMIT ${candidateLimit}`;
}
