// What competes by the conditions of declared payments: payments that a line may pay by them, and
// lines that may pay a payment. Payments are found by an index, and lines among those that nothing
// explains yet. A debit of one of our operations competes too: its line may carry none of our ids.
import { saoPauloDay } from '../../brazil/statement-day.js';
import { opaqueAccountId, type Reader } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { maxConditional, mayPayByConditions } from '../decide/by-conditions.js';
import type { ExpectedPaymentFacts, Facts, StatementLineFacts } from '../decide/model.js';
import { undecidedNsus } from './rules.queries.js';

/** What was looked up already for a component: each line and payment once. */
export class ConditionsSearch {
  readonly lineKeys = new Set<string>();
  readonly paymentIds = new Set<string>();
  readonly ownAmounts = new Set<bigint>();
  readonly sentAmounts = new Set<bigint>();
}

/** What competes with the lines and the declared payments found so far. */
export async function findByConditions(
  db: Reader,
  accountId: number,
  { lines, expectedPayments }: Pick<Facts, 'lines' | 'expectedPayments'>,
  search: ConditionsSearch,
): Promise<{ nsus: bigint[]; expectedPaymentIds: string[] }> {
  const found = await listPaymentsByConditions(db, accountId, newLines(lines, search));
  const debits = takeNew(
    search.ownAmounts,
    found.flatMap(({ isCredit, cents }) => (isCredit ? [] : [cents])),
  );
  const sent = takeNew(search.sentAmounts, expectedPayments.flatMap(sentAmountOf));
  return {
    expectedPaymentIds: [
      ...found.map(({ id }) => id),
      ...(await listOwnDebits(db, accountId, debits)),
    ],
    nsus: [
      ...(await listLinesByConditions(db, accountId, newPayments(expectedPayments, search))),
      ...(await listUndecidedDebits(db, accountId, sent)),
    ],
  };
}

function takeNew(seen: Set<bigint>, values: readonly bigint[]): bigint[] {
  const fresh = [...new Set(values)].filter((value) => !seen.has(value));
  for (const value of fresh) seen.add(value);
  return fresh;
}

/** The amount of a debit that an operation of ours expects. */
function sentAmountOf({ isCredit, declared, amountCents }: ExpectedPaymentFacts): bigint[] {
  return isCredit || declared !== null || amountCents === null ? [] : [amountCents];
}

interface LineKey {
  isCredit: boolean;
  amountCents: bigint;
  day: string;
  document: string | null;
}

/** One key for lines that the same payments agree with. */
function newLines(lines: readonly StatementLineFacts[], { lineKeys }: ConditionsSearch): LineKey[] {
  return lines.filter(mayPayByConditions).flatMap((line) => {
    const { isCredit, amountCents, counterpartyDocument: document } = line;
    const day = saoPauloDay(line.occurredAt);
    const key = `${isCredit} ${amountCents} ${day} ${document}`;
    if (lineKeys.has(key)) return [];
    lineKeys.add(key);
    return [{ isCredit, amountCents, day, document }];
  });
}

function newPayments(
  payments: readonly ExpectedPaymentFacts[],
  { paymentIds }: ConditionsSearch,
): string[] {
  return payments.flatMap(({ id, declared }) => {
    if (declared === null || paymentIds.has(id)) return [];
    paymentIds.add(id);
    return [id];
  });
}

/**
 * The payments that agree with each line in direction, amount, window and counterparty: of each,
 * one more than are compared, in the order of ids.
 */
async function listPaymentsByConditions(
  db: Reader,
  accountId: number,
  lines: readonly LineKey[],
): Promise<{ id: string; isCredit: boolean; cents: bigint }[]> {
  if (lines.length === 0) return [];
  return db.$queryRaw`
    SELECT DISTINCT payment.id, line.is_credit, line.cents FROM unnest(
      ${lines.map(({ isCredit }) => isCredit)}::boolean[],
      ${lines.map(({ amountCents }) => amountCents)}::bigint[],
      ${lines.map(({ day }) => day)}::date[],
      ${lines.map(({ document }) => document)}::text[]) AS line(is_credit, cents, day, document)
    CROSS JOIN LATERAL (
      SELECT found.id FROM unnest(ARRAY[
        condition_group(${accountId}::int, line.is_credit, NULL),
        CASE WHEN line.document IS NOT NULL
          THEN condition_group(${accountId}::int, line.is_credit, line.document) END
      ]) AS of_group(hash)
      CROSS JOIN LATERAL (
        SELECT account_id, id, is_credit, counterparty_document FROM expected_payment
        WHERE int8range(condition_group(account_id, is_credit, counterparty_document),
            condition_group(account_id, is_credit, counterparty_document), '[]') @> of_group.hash
          AND int8range(least_cents, most_cents, '[]') @> line.cents
          AND daterange(date_from, date_to, '[]') @> line.day
          AND least_cents IS NOT NULL AND withdrawn_at IS NULL
        OFFSET 0
      ) found
      -- A hash may be that of another group.
      WHERE found.account_id = ${opaqueAccountId(accountId)} AND found.is_credit = line.is_credit
        AND (found.counterparty_document IS NULL
          OR found.counterparty_document = line.document)
      ORDER BY found.id LIMIT ${maxConditional + 1}
    ) payment`;
}

/** The open debits of our operations with one of these amounts: the cost follows what is open. */
async function listOwnDebits(
  db: Reader,
  accountId: number,
  amounts: readonly bigint[],
): Promise<string[]> {
  if (amounts.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT e.id FROM (
      SELECT expected_payment_id AS id FROM expected_payment_total
      WHERE account_id = ${opaqueAccountId(accountId)} AND settlement = 'open' OFFSET 0
    ) open
    CROSS JOIN LATERAL (
      SELECT id, is_credit, amount_cents, external_id FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = open.id OFFSET 0
    ) e
    WHERE NOT e.is_credit AND e.external_id IS NULL
      AND e.amount_cents = ANY (${[...amounts]}::bigint[])`;
  return rows.map(({ id }) => id);
}

/** The debits of these amounts that conditions may decide again. */
async function listUndecidedDebits(
  db: Reader,
  accountId: number,
  amounts: readonly bigint[],
): Promise<bigint[]> {
  if (amounts.length === 0) return [];
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT t.nsu FROM (${undecidedNsus(accountId, -1n)}) undecided
    CROSS JOIN LATERAL (
      SELECT nsu, is_credit, amount_cents FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = undecided.nsu OFFSET 0
    ) t
    WHERE NOT t.is_credit AND t.amount_cents = ANY (${[...amounts]}::bigint[])`;
  return rows.map(({ nsu }) => nsu);
}

interface Version {
  isCredit: boolean;
  leastCents: bigint;
  mostCents: bigint;
  dateFrom: string;
  dateTo: string;
  document: string | null;
}

/**
 * Lines without an explanation, or with one by a rule, that agree with a version of these payments:
 * lines that competed for an earlier version are decided again too.
 */
async function listLinesByConditions(
  db: Reader,
  accountId: number,
  ids: readonly string[],
): Promise<bigint[]> {
  if (ids.length === 0) return [];
  const versions = await db.$queryRaw<Version[]>`
    SELECT e.is_credit, v.least_cents, v.most_cents,
           to_char(v.date_from, 'YYYY-MM-DD') AS date_from,
           to_char(v.date_to, 'YYYY-MM-DD') AS date_to, v.counterparty_document AS document
    FROM unnest(${[...ids]}::uuid[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment_version
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = wanted.id OFFSET 0
    ) v
    CROSS JOIN LATERAL (
      SELECT is_credit FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = wanted.id OFFSET 0
    ) e
    WHERE v.least_cents IS NOT NULL`;
  if (versions.length === 0) return [];
  const lines = await listUndecidedBetween(db, accountId, versions);
  return linesOfVersions(lines, versions);
}

type UndecidedLine = LineKey & { nsu: bigint };

/** The lines without an explanation within the bounds of all versions, by amount. */
async function listUndecidedBetween(
  db: Reader,
  accountId: number,
  versions: readonly Version[],
): Promise<UndecidedLine[]> {
  const least = versions.reduce(
    (min, one) => (one.leastCents < min ? one.leastCents : min),
    2n ** 62n,
  );
  const most = versions.reduce((max, one) => (one.mostCents > max ? one.mostCents : max), 0n);
  const from = versions.reduce(
    (min, one) => (one.dateFrom < min ? one.dateFrom : min),
    '9999-12-31',
  );
  const to = versions.reduce((max, one) => (one.dateTo > max ? one.dateTo : max), '0001-01-01');
  const day = Prisma.sql`(t.occurred_at AT TIME ZONE 'America/Sao_Paulo')::date`;
  return db.$queryRaw<UndecidedLine[]>`
    SELECT t.nsu, t.is_credit, t.amount_cents, to_char(${day}, 'YYYY-MM-DD') AS day,
           t.counterparty_document AS document
    FROM (${undecidedNsus(accountId, -1n)}) undecided
    CROSS JOIN LATERAL (
      SELECT nsu, is_credit, amount_cents, occurred_at, counterparty_document,
             original_end_to_end_id
      FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = undecided.nsu OFFSET 0
    ) t
    WHERE t.original_end_to_end_id IS NULL AND t.amount_cents BETWEEN ${least} AND ${most}
      AND ${day} BETWEEN ${from}::date AND ${to}::date
    ORDER BY t.amount_cents`;
}

function linesOfVersions(lines: readonly UndecidedLine[], versions: readonly Version[]): bigint[] {
  const found = new Set<bigint>();
  for (const version of versions)
    for (let at = firstFrom(lines, version.leastCents); at < lines.length; at += 1) {
      const line = lines[at];
      if (!line || line.amountCents > version.mostCents) break;
      if (agrees(line, version)) found.add(line.nsu);
    }
  return [...found];
}

const agrees = (line: UndecidedLine, version: Version): boolean =>
  line.isCredit === version.isCredit &&
  line.day >= version.dateFrom &&
  line.day <= version.dateTo &&
  (version.document === null || version.document === line.document);

/** The first of the lines, in the order of amounts, with at least this amount. */
function firstFrom(lines: readonly UndecidedLine[], cents: bigint): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.amountCents ?? 0n) < cents) low = middle + 1;
    else high = middle;
  }
  return low;
}
