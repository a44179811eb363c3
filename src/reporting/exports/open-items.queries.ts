// Reads open breaks and overdue expected payments, page by page.
import type { PlainDate } from '../../brazil/calendar.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { metadataColumn } from '../../statement/expected-payments/metadata.queries.js';
import { openedDay } from '../../reconciliation/breaks/severity.queries.js';
import { Prisma } from '../../generated/service/client.js';
import type { ExportedBreak, OverduePayment } from './open-items-tables.js';

/** Without what several sources say. */
type Unnamed<Row> = Row extends unknown ? Omit<Row, 'counterparty'> : never;
export type BreakRowOfFile = Unnamed<ExportedBreak>;
export type OverdueRow = Unnamed<OverduePayment>;

/** The client's own ids of an expected payment. */
const referenceOf = (accountId: number, expectedPaymentId: Prisma.Sql) => Prisma.sql`(
  SELECT string_agg(DISTINCT value, ' ' ORDER BY value) FROM expected_payment_reference
  WHERE account_id = ${accountId} AND expected_payment_id = ${expectedPaymentId}
    AND kind IN ('external_id', 'correlation_id'))`;

/** The open breaks of a kind after an id, by id. */
export async function listOpenBreaks(
  db: Db,
  accountId: number,
  page: { kind: string; afterId: string; limit: number },
): Promise<BreakRowOfFile[]> {
  return db.$queryRaw<BreakRowOfFile[]>`
    SELECT b.id, b.kind, b.amount_cents, b.nsu, b.expected_payment_id, t.occurred_at, t.type_name,
           t.end_to_end_id, t.notes, COALESCE(c.category::text, e.category) AS category,
           e.cost_centre, e.project, e.due_date,
           COALESCE(t.is_credit, e.is_credit) AS is_credit,
           ${openedDay} AS opened_day,
           COALESCE(t.external_id, t.correlation_id,
             e.external_id, ${referenceOf(accountId, Prisma.sql`b.expected_payment_id`)})
             AS client_reference,
           ${metadataColumn(
             Prisma.sql`${accountId}`,
             Prisma.sql`b.expected_payment_id`,
           )} AS metadata
    FROM (
      SELECT * FROM break
      WHERE account_id = ${accountId} AND kind = ${page.kind} AND state = 'open'
        AND id > ${page.afterId}::uuid
      ORDER BY id LIMIT ${page.limit}
    ) b
    LEFT JOIN statement_line t ON t.account_id = ${accountId} AND t.nsu = b.nsu
    LEFT JOIN classification c ON c.account_id = ${accountId} AND c.nsu = b.nsu
    LEFT JOIN expected_payment e
      ON e.account_id = ${accountId} AND e.id = b.expected_payment_id
    ORDER BY b.id`;
}

/** The overdue payments after a day and an id, the oldest first. */
export async function listOverduePayments(
  db: Db,
  accountId: number,
  page: { today: PlainDate; afterDay: PlainDate; afterId: string; limit: number },
): Promise<OverdueRow[]> {
  return db.$queryRaw<OverdueRow[]>`
    SELECT e.id, e.operation_id, e.kind, e.is_credit, e.amount_cents, e.due_date,
           e.category, e.cost_centre, e.project, t.last_payment_day,
           COALESCE(e.external_id, ${referenceOf(accountId, Prisma.sql`e.id`)})
             AS client_reference,
           ${metadataColumn(Prisma.sql`${accountId}`, Prisma.sql`e.id`)} AS metadata
    FROM (
      SELECT last_payment_day, expected_payment_id FROM expected_payment_total
      WHERE account_id = ${accountId} AND settlement = 'open' AND last_payment_day < ${page.today}
        AND (last_payment_day, expected_payment_id) > (${page.afterDay}, ${page.afterId}::uuid)
      ORDER BY last_payment_day, expected_payment_id LIMIT ${page.limit}
    ) t
    JOIN expected_payment e ON e.account_id = ${accountId} AND e.id = t.expected_payment_id
    ORDER BY t.last_payment_day, t.expected_payment_id`;
}
