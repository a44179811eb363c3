// What the search box finds: one index look-up for each thing that the text may be, each of which
// reads a few rows, the newest where its index is in their order.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import {
  impersonalReferenceKinds,
  referenceKinds,
  lineReferenceKinds,
} from '../../statement/expected-payments/references.js';
import {
  Prisma,
  type Break,
  type LineOutcomeState,
  type Operation,
  type StatementLine,
} from '../../generated/service/client.js';
import { stateOfLine } from '../../reconciliation/api/transactions.queries.js';
import type { SearchTerms } from './search-terms.js';

/** A look-up reads so many rows, and a group of the page shows one fewer. */
export const rowsOfLookUp = 21;
/** All look-ups of a kind together. */
const maxFound = 200;

const { sql, join } = Prisma;

/** The newest rows of a look-up. Each is one query in parentheses, for a union. */
const newest = (id: Prisma.Sql, rows: Prisma.Sql, order: Prisma.Sql) =>
  sql`(SELECT ${id} AS id FROM ${rows} ORDER BY ${order} LIMIT ${rowsOfLookUp})`;

/** So many names that have the words are looked up. */
const maxNames = 50;

/** Of those that a condition finds first, where only its own index is bounded. */
const few = (id: Prisma.Sql, rows: Prisma.Sql, order: Prisma.Sql) =>
  newest(id, sql`(SELECT * FROM ${rows} LIMIT ${maxFound}) few`, order);

/** Names that have each word of the text. `plain` is the name as `plain_name` writes it. */
const hasName = (plain: Prisma.Sql, name: string) =>
  join(
    name.split(' ').map((word) => sql`${plain} LIKE '%' || plain_name(${word}) || '%'`),
    ' AND ',
  );
const plainName = (column: Prisma.Sql) => sql`plain_name("left"(${column}, 100))`;

export interface FoundPayment {
  id: string;
  kind: string;
  isCredit: boolean;
  amountCents: bigint | null;
  createdAt: Date;
  operationId: string | null;
  /** What people call it: an id that was chosen for it, the bank's, or its bar code. */
  label: string | null;
  correlationId: string | null;
  transferId: string | null;
  billId: string | null;
  refundId: string | null;
  settlement: string | null;
}

/** Expected payments: every charge, transfer, bill payment and refund has one. */
export async function searchPayments(
  db: Db,
  accountId: number,
  terms: SearchTerms,
  /** Of the transfers to the searched Pix key. */
  operationIds: readonly string[],
): Promise<FoundPayment[]> {
  const account = opaqueAccountId(accountId);
  const lookUps = paymentLookUps(account, terms, operationIds);
  if (lookUps.length === 0) return [];
  return db.$queryRaw<FoundPayment[]>`
    SELECT e.id, e.kind, e.is_credit, e.amount_cents, e.created_at, e.operation_id,
           COALESCE(c.correlation_id, e.external_id, t.external_id, t.end_to_end_id, b.bar_code,
                    r.end_to_end_id) AS label,
           c.correlation_id, t.id AS "transferId", b.id AS "billId", r.id AS "refundId",
           total.settlement
    FROM (
      SELECT DISTINCT id FROM (${join(lookUps, ' UNION ALL ')}) each
      ORDER BY id DESC LIMIT ${maxFound}
    ) found
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment WHERE account_id = ${account} AND id = found.id OFFSET 0
    ) e
    LEFT JOIN LATERAL (${ofPayment(account, sql`charge`)}) c ON true
    LEFT JOIN LATERAL (${ofPayment(account, sql`transfer`)}) t ON true
    LEFT JOIN LATERAL (${ofPayment(account, sql`bill_payment`)}) b ON true
    LEFT JOIN LATERAL (${ofPayment(account, sql`refund`)}) r ON true
    LEFT JOIN LATERAL (${ofPayment(account, sql`expected_payment_total`)}) total ON true
    ORDER BY e.id DESC`;
}

const ofPayment = (account: Prisma.Sql, table: Prisma.Sql) => sql`
  SELECT * FROM ${table} WHERE account_id = ${account} AND expected_payment_id = found.id OFFSET 0`;

function paymentLookUps(
  account: Prisma.Sql,
  { uuid, identifier, beginning, nsu, barCode, slip, taxId, amountCents, name }: SearchTerms,
  operationIds: readonly string[],
): Prisma.Sql[] {
  const payments = (condition: Prisma.Sql) =>
    sql`expected_payment WHERE account_id = ${account} AND ${condition}`;
  const byReference = (kind: string, value: string) =>
    newest(
      sql`expected_payment_id`,
      sql`expected_payment_reference
        WHERE account_id = ${account} AND kind = ${kind} AND value = ${value}`,
      sql`expected_payment_id DESC`,
    );
  const byOperations = (ids: readonly string[]) =>
    newest(
      sql`id`,
      payments(sql`operation_id = ANY (${[...ids]}::uuid[])`),
      sql`operation_id DESC`,
    );
  const created = sql`created_at DESC`;
  const id = sql`id`;
  return [
    ...(beginning === null ? [] : paymentsByBeginning(account, beginning)),
    ...(identifier === null ? [] : referenceKinds.map((kind) => byReference(kind, identifier))),
    ...(identifier === null ? [] : [newest(id, payments(sql`external_id = ${identifier}`), id)]),
    ...(identifier === null ? [] : [ofIdempotencyKey(account, identifier)]),
    ...(nsu === null || nsu.toString() === identifier ? [] : [byReference('nsu', `${nsu}`)]),
    ...(barCode === null || barCode === identifier ? [] : [byReference('bill_code', barCode)]),
    ...(slip === null || barCode === null ? [] : [ofSlip(account, barCode, slip)]),
    ...(uuid === null
      ? []
      : [
          newest(id, payments(sql`id = ${uuid}::uuid`), id),
          newest(
            sql`expected_payment_id`,
            sql`transfer WHERE account_id = ${account} AND id = ${uuid}::uuid`,
            id,
          ),
          byOperations([uuid]),
        ]),
    ...(operationIds.length === 0 ? [] : [byOperations(operationIds)]),
    ...(taxId === null
      ? []
      : [newest(id, payments(sql`counterparty_document = ${taxId}`), created)]),
    ...(amountCents === null
      ? []
      : [true, false].map((isCredit) =>
          newest(
            id,
            payments(sql`is_credit = ${isCredit} AND amount_cents = ${amountCents}`),
            created,
          ),
        )),
    ...(name === null
      ? []
      : [few(id, payments(hasName(plainName(sql`counterparty_name`), name)), created)]),
  ];
}

/** What other systems and the bank call a payment begins so, or its id does. */
function paymentsByBeginning(
  account: Prisma.Sql,
  { text, uuids }: NonNullable<SearchTerms['beginning']>,
): Prisma.Sql[] {
  return [
    newest(
      sql`expected_payment_id`,
      sql`expected_payment_reference
        WHERE account_id = ${account} AND kind = ANY (${impersonalReferenceKinds}::text[])
          AND value ~>=~ ${text} AND value ~<~ (${text} || chr(1114111))`,
      sql`value USING ~<~`,
    ),
    ...(uuids === null
      ? []
      : [sql`id`, sql`operation_id`].map((column) =>
          newest(
            sql`id`,
            sql`expected_payment
              WHERE account_id = ${account} AND ${column} ${between(uuids)}`,
            sql`${column} DESC`,
          ),
        )),
  ];
}

const between = ({ from, to }: { from: string; to: string }) =>
  sql`BETWEEN ${from}::uuid AND ${to}::uuid`;

const ofIdempotencyKey = (account: Prisma.Sql, key: string) => sql`(
  SELECT e.id
  FROM (
    SELECT id FROM operation WHERE account_id = ${account} AND idempotency_key = ${key}
    LIMIT ${rowsOfLookUp}
  ) o
  CROSS JOIN LATERAL (
    SELECT id FROM expected_payment
    WHERE account_id = ${account} AND operation_id = o.id LIMIT ${rowsOfLookUp}
  ) e LIMIT ${rowsOfLookUp})`;

/** So many of the newest charges of a slip's amount are compared with its code. */
const comparedCharges = 500;

/** Our own slip: the bank has written its code into the response, where no index has it. */
const ofSlip = (
  account: Prisma.Sql,
  barCode: string,
  { digitableLine, cents }: NonNullable<SearchTerms['slip']>,
) => sql`(
  SELECT e.id
  FROM (
    SELECT id, operation_id FROM expected_payment
    WHERE account_id = ${account} AND is_credit AND amount_cents = ${cents}
    ORDER BY created_at DESC LIMIT ${comparedCharges}
  ) e
  CROSS JOIN LATERAL (
    SELECT response_body FROM operation
    WHERE account_id = ${account} AND id = e.operation_id OFFSET 0
  ) o
  WHERE position(${barCode} IN o.response_body) > 0
    OR position(${digitableLine} IN o.response_body) > 0
  LIMIT ${rowsOfLookUp})`;

export type FoundLine = Pick<
  StatementLine,
  'nsu' | 'isCredit' | 'amountCents' | 'typeName' | 'occurredAt'
> & { state: LineOutcomeState };

export async function searchLines(
  db: Db,
  accountId: number,
  terms: SearchTerms,
): Promise<FoundLine[]> {
  const account = opaqueAccountId(accountId);
  const lookUps = lineLookUps(account, terms);
  if (lookUps.length === 0) return [];
  return db.$queryRaw<FoundLine[]>`
    SELECT t.nsu, t.is_credit, t.amount_cents, t.type_name, t.occurred_at, ${stateOfLine} AS state
    FROM (
      SELECT DISTINCT id FROM (${join(lookUps, ' UNION ALL ')}) each
      ORDER BY id DESC LIMIT ${maxFound}
    ) found
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${account} AND nsu = found.id OFFSET 0
    ) t
    ORDER BY t.nsu DESC`;
}

/** Columns of a line with ids as text, each with an index. Others have their own look-ups. */
const idColumns = [...lineReferenceKinds.map(({ column }) => column), 'original_end_to_end_id']
  .filter((column) => !['nsu', 'correlation_id', 'bill_code'].includes(column))
  .map((column) => Prisma.raw(column));

function lineLookUps(
  account: Prisma.Sql,
  { identifier, nsu, barCode, taxId, amountCents, name }: SearchTerms,
): Prisma.Sql[] {
  const nsuColumn = sql`nsu`;
  const lines = (condition: Prisma.Sql) =>
    sql`statement_line WHERE account_id = ${account} AND ${condition}`;
  // Not by the order of nsus, in which all lines might be read for a few.
  const sorted = (condition: Prisma.Sql) =>
    newest(nsuColumn, sql`(SELECT nsu FROM ${lines(condition)} OFFSET 0) few`, sql`nsu DESC`);
  const inOrder = (condition: Prisma.Sql, order = sql`nsu DESC`) =>
    newest(nsuColumn, lines(condition), order);
  return [
    ...(identifier === null
      ? []
      : [
          inOrder(sql`correlation_id = ${identifier}`),
          ...idColumns.map((column) => sorted(sql`${column} = ${identifier}`)),
        ]),
    ...(nsu === null ? [] : [inOrder(sql`nsu = ${nsu}`)]),
    ...(barCode === null ? [] : [sorted(sql`bill_code = ${barCode}`)]),
    ...(amountCents === null ? [] : [inOrder(sql`amount_cents = ${amountCents}`)]),
    ...(taxId === null
      ? []
      : [
          inOrder(sql`counterparty_document = ${taxId}`, sql`occurred_at DESC`),
          reportedLines(account, sql`tax_id = ${taxId}`),
        ]),
    ...(name === null
      ? []
      : [linesByName(account, name), reportedLines(account, hasName(plainName(sql`name`), name))]),
  ];
}

/** The newest lines of each name, and of them the newest. */
const linesByName = (account: Prisma.Sql, name: string) => sql`(
  SELECT line.nsu AS id
  FROM (
    SELECT name FROM line_name WHERE account_id = ${account} AND ${hasName(sql`plain`, name)}
    LIMIT ${maxNames}
  ) named
  CROSS JOIN LATERAL (
    SELECT nsu FROM statement_line
    WHERE account_id = ${account} AND counterparty_name IS NOT NULL
      AND lower("left"(counterparty_name, 100)) COLLATE "C" = named.name COLLATE "C"
    ORDER BY lower("left"(counterparty_name, 100)) COLLATE "C", nsu DESC LIMIT ${rowsOfLookUp}
  ) line
  ORDER BY nsu DESC LIMIT ${rowsOfLookUp})`;

/** Lines whose counterparty only a webhook names. An erased line has none. */
const reportedLines = (account: Prisma.Sql, condition: Prisma.Sql) => sql`(
  SELECT line.nsu AS id
  FROM (
    SELECT reference_kind, reference, is_credit FROM webhook_counterparty
    WHERE account_id = ${account} AND ${condition}
    LIMIT ${rowsOfLookUp}
  ) reported
  CROSS JOIN LATERAL (
    SELECT nsu, is_credit, salt FROM statement_line
    WHERE account_id = ${account} AND nsu =
      CASE WHEN reported.reference_kind = 'nsu' THEN reported.reference::bigint END
    UNION ALL
    SELECT nsu, is_credit, salt FROM statement_line
    WHERE account_id = ${account} AND reported.reference_kind = 'end_to_end_id'
      AND end_to_end_id = reported.reference
  ) line
  WHERE line.is_credit = reported.is_credit AND line.salt IS NOT NULL
  LIMIT ${rowsOfLookUp})`;

export type FoundOperation = Pick<Operation, 'id' | 'kind' | 'state' | 'amountCents' | 'createdAt'>;

export async function searchOperations(
  db: Db,
  accountId: number,
  { uuid, identifier, beginning }: SearchTerms,
): Promise<FoundOperation[]> {
  if (identifier === null) return [];
  const { from, to } = beginning?.uuids ?? { from: uuid, to: uuid };
  return db.$queryRaw<FoundOperation[]>`
    (SELECT id, kind, state, amount_cents, created_at FROM operation
     WHERE account_id = ${opaqueAccountId(accountId)} AND id BETWEEN ${from}::uuid AND ${to}::uuid
     ORDER BY id DESC LIMIT ${rowsOfLookUp})
    UNION
    SELECT * FROM (
      SELECT id, kind, state, amount_cents, created_at FROM operation
      WHERE account_id = ${opaqueAccountId(accountId)} AND idempotency_key = ${identifier} OFFSET 0
    ) few
    ORDER BY id DESC LIMIT ${rowsOfLookUp}`;
}

export type FoundBreak = Pick<Break, 'id' | 'kind' | 'state' | 'amountCents' | 'openedAt'>;

/** What was found otherwise, to which breaks belong. */
export interface SearchedSubjects {
  nsus: readonly bigint[];
  expectedPaymentIds: readonly string[];
  operationIds: readonly string[];
}

/** The break with this id, open breaks of this amount, and the breaks of what was found. */
export async function searchBreaks(
  db: Db,
  accountId: number,
  { uuid, beginning, amountCents }: SearchTerms,
  { nsus, expectedPaymentIds, operationIds }: SearchedSubjects,
): Promise<FoundBreak[]> {
  const account = opaqueAccountId(accountId);
  const { from, to } = beginning?.uuids ?? { from: uuid, to: uuid };
  const ofEach = (ids: Prisma.Sql, column: Prisma.Sql) => sql`(
    SELECT b.id FROM unnest(${ids}) found (id)
    CROSS JOIN LATERAL (
      SELECT id FROM break WHERE account_id = ${account} AND ${column} = found.id OFFSET 0
    ) b)`;
  return db.$queryRaw<FoundBreak[]>`
    SELECT b.id, b.kind, b.state, b.amount_cents, b.opened_at
    FROM (
      SELECT DISTINCT id FROM (
        (SELECT id FROM break
         WHERE account_id = ${account} AND id BETWEEN ${from}::uuid AND ${to}::uuid
         ORDER BY id DESC LIMIT ${rowsOfLookUp})
        UNION ALL
        (SELECT id FROM break
         WHERE account_id = ${account} AND state = 'open' AND nsu IS NOT NULL
           AND amount_cents = ${amountCents}::bigint
         ORDER BY nsu DESC LIMIT ${rowsOfLookUp})
        UNION ALL ${ofEach(sql`${[...nsus]}::bigint[]`, sql`nsu`)}
        UNION ALL ${ofEach(sql`${[...expectedPaymentIds]}::uuid[]`, sql`expected_payment_id`)}
        UNION ALL ${ofEach(sql`${[...operationIds]}::uuid[]`, sql`operation_id`)}
      ) each
      ORDER BY id DESC LIMIT ${rowsOfLookUp}
    ) found
    CROSS JOIN LATERAL (
      SELECT * FROM break WHERE account_id = ${account} AND id = found.id OFFSET 0
    ) b
    ORDER BY b.id DESC`;
}
