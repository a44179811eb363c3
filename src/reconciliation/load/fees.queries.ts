// What fees are checked by: price lists, lines that are classified as fees, and how many items of
// each kind the statement shows.
import { billWords, slipWords, undoingPattern } from '../../bank-contract/line-types.js';
import { monthAfter } from '../../brazil/calendar.js';
import { saoPauloDay, statementDayStart, statementMonths } from '../../brazil/statement-day.js';
import { groupBy } from '../../platform/grouping.js';
import { opaqueAccountId, type Reader } from '../../platform/postgres/database.service.js';
import { Prisma, type PriceList } from '../../generated/service/client.js';
import {
  type AgreedPrices,
  type AgreedTariff,
  type FeeFacts,
  type FeeLine,
  type ItemCount,
} from '../decide/fee-check.js';

/** Months, both included. */
export interface Months {
  from: string;
  to: string;
}

/** The time of these months, and of the month after them: it has fees for the last of them. */
export function feeWindow({ from, to }: Months): { from: Date; until: Date; counted: Date } {
  return { ...statementMonths(from, monthAfter(to)), counted: statementMonths(from, to).until };
}

const matching = (words: readonly string[]) => Prisma.raw(`'${words.join('|')}'`);
const dayOf = (line: Prisma.Sql) =>
  Prisma.sql`to_char(${line}.occurred_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')`;

/** Whether a line (in SQL) is classified as a fee. */
export const isFee = (line: Prisma.Sql) => Prisma.sql`EXISTS (
  SELECT FROM classification fee
  WHERE fee.account_id = ${line}.account_id AND fee.nsu = ${line}.nsu
    AND fee.category IN ('fee', 'tariff'))`;

/**
 * The kind of item that a line (in SQL) is; null for what has no price: fees, what undoes another
 * line, and debits of an unknown type that pay nothing. What a line is matched with precedes its
 * type, by which some banks name no more than the direction. An item stays one when it is undone.
 */
const kindOfItem = (line: Prisma.Sql) => Prisma.sql`(
  SELECT CASE
    WHEN paid.role = 'reversal' OR ${isFee(line)} THEN NULL
    WHEN ${line}.is_credit THEN CASE
      WHEN ${line}.type_name ~* ${Prisma.raw(`'${undoingPattern}'`)} THEN NULL
      WHEN ${line}.type_name ~* ${matching(slipWords)} THEN 'slip_received'
      WHEN ${line}.end_to_end_id IS NOT NULL OR ${line}.type_name ~* 'PIX' THEN 'pix_received'
      WHEN paid.kind = 'create_charge' THEN 'slip_received' END
    WHEN paid.kind = 'refund_pix' OR ${line}.original_end_to_end_id IS NOT NULL THEN 'pix_refund'
    WHEN paid.kind = 'pay_bill' THEN 'bill_paid'
    WHEN ${line}.type_name ~* ${Prisma.raw(`'${undoingPattern}'`)} THEN
      CASE WHEN ${line}.type_name ~* 'PIX' THEN 'pix_refund' END
    WHEN ${line}.type_name ~* ${matching(billWords)} THEN 'bill_paid'
    WHEN ${line}.type_name ~* 'PIX' OR paid.nsu IS NOT NULL AND ${line}.end_to_end_id IS NOT NULL
      THEN 'pix_sent'
    WHEN ${line}.type_name ~* 'TRANSFER|TED' OR paid.nsu IS NOT NULL THEN 'transfer_sent' END
  FROM (VALUES (1)) AS one(row)
  LEFT JOIN LATERAL (
    SELECT m.nsu, m.role, e.kind FROM match m
    JOIN expected_payment e ON e.account_id = m.account_id AND e.id = m.expected_payment_id
    WHERE m.account_id = ${line}.account_id AND m.nsu = ${line}.nsu AND m.unlinked_at IS NULL
    ORDER BY m.id LIMIT 1
  ) paid ON true)`;

/** The facts of these months; the lines of the month after them too. */
export async function loadFeeFacts(
  db: Reader,
  accountId: number,
  months: Months,
  { lists, asOf }: { lists: readonly AgreedPrices[]; asOf: Date },
): Promise<FeeFacts> {
  const { from, until, counted } = feeWindow(months);
  const [lines, counts] = [
    await listFeeLines(db, accountId, { from, until }),
    await countItems(db, accountId, { from, until: counted }),
  ];
  return { lines, counts, lists, today: saoPauloDay(asOf) };
}

interface Window {
  from: Date;
  until: Date;
}

const linesIn = (accountId: number, { from, until }: Window) => Prisma.sql`
  statement_line l WHERE l.account_id = ${opaqueAccountId(accountId)}
    AND l.occurred_at >= ${from} AND l.occurred_at < ${until}`;
const l = Prisma.sql`l`;
const i = Prisma.sql`i`;

export async function listFeeLines(
  db: Reader,
  accountId: number,
  window: Window,
): Promise<FeeLine[]> {
  const itemWith = (column: 'end_to_end_id' | 'correlation_id') => Prisma.sql`
    LEFT JOIN LATERAL (
      SELECT i.nsu, ${dayOf(i)} AS day, ${kindOfItem(i)} AS kind
      FROM statement_line i
      WHERE i.account_id = fee.account_id AND i.${Prisma.raw(column)} = fee.${Prisma.raw(column)}
        AND i.nsu <> fee.nsu AND ${kindOfItem(i)} IS NOT NULL
      ORDER BY i.nsu LIMIT 1
    ) by_${Prisma.raw(column)} ON true`;
  return db.$queryRaw<FeeLine[]>`
    SELECT fee.nsu, ${dayOf(Prisma.sql`fee`)} AS day, fee.amount_cents, fee.type_name, fee.notes,
           COALESCE(by_end_to_end_id.nsu, by_correlation_id.nsu) AS "itemNsu",
           COALESCE(by_end_to_end_id.kind, by_correlation_id.kind) AS "itemKind",
           COALESCE(by_end_to_end_id.day, by_correlation_id.day) AS "itemDay"
    FROM (
      SELECT l.* FROM ${linesIn(accountId, window)} AND NOT l.is_credit AND ${isFee(l)} OFFSET 0
    ) fee ${itemWith('end_to_end_id')} ${itemWith('correlation_id')}
    ORDER BY fee.nsu`;
}

async function countItems(db: Reader, accountId: number, window: Window): Promise<ItemCount[]> {
  return db.$queryRaw<ItemCount[]>`
    SELECT kind, day, count(*)::int AS items FROM (
      SELECT ${kindOfItem(l)} AS kind, ${dayOf(l)} AS day FROM ${linesIn(accountId, window)}
    ) item WHERE kind IS NOT NULL GROUP BY kind, day`;
}

/** What the bank gave back of fees in a month: credits that are classified as fees. */
export async function sumReturnedFees(db: Reader, accountId: number, month: string) {
  const { from, counted: until } = feeWindow({ from: month, to: month });
  const [row] = await db.$queryRaw<{ cents: bigint }[]>`
    SELECT COALESCE(sum(l.amount_cents), 0)::bigint AS cents
    FROM ${linesIn(accountId, { from, until })} AND l.is_credit AND ${isFee(l)}`;
  return row?.cents ?? 0n;
}

/** A version of an account's price list, with who stored it. */
export type StoredPrices = AgreedPrices & Pick<PriceList, 'actor' | 'reason' | 'createdAt'>;

type TariffColumns = Omit<AgreedTariff, 'tiers'> & { tierFrom: number[]; tierCents: string[] };
/** A version without tariffs has a row of nulls. */
type TariffRow = Omit<StoredPrices, 'tariffs'> &
  (TariffColumns | Record<keyof TariffColumns, null>);

/** All versions of an account's price list, newest first. */
export async function listPriceLists(db: Reader, accountId: number): Promise<StoredPrices[]> {
  const rows = await db.$queryRaw<TariffRow[]>`
    SELECT p.version, p.valid_from, p.actor, p.reason, p.created_at, t.kind, t.period, t.charged,
           t.price_cents, t.free_items, t.tier_from, t.tier_cents::text[] AS tier_cents, t.text
    FROM price_list p
    LEFT JOIN tariff t ON t.account_id = p.account_id AND t.version = p.version
    WHERE p.account_id = ${opaqueAccountId(accountId)} ORDER BY p.version DESC, t.kind`;
  return [...groupBy(rows, ({ version }) => version).values()].flatMap((ofVersion) => {
    const [first] = ofVersion;
    if (!first) return [];
    const { version, validFrom, actor, reason, createdAt } = first;
    const tariffs = ofVersion.flatMap((row) => {
      if (row.kind === null) return [];
      const { kind, period, charged, priceCents, freeItems, text, tierFrom, tierCents } = row;
      const tiers = tierFrom.map((from, index) => ({
        from,
        priceCents: BigInt(tierCents[index]!),
      }));
      return [{ kind, period, charged, priceCents, freeItems, tiers, text }];
    });
    return [{ version, validFrom, actor, reason, createdAt, tariffs }];
  });
}

/** The time of the earliest of these lines; null if there is none. */
export async function readFirstTime(
  db: Reader,
  accountId: number,
  nsus: readonly bigint[],
): Promise<Date | null> {
  const [row] = await db.$queryRaw<{ first: Date | null }[]>`
    SELECT min(occurred_at) AS first FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${[...nsus]}::bigint[])`;
  return row?.first ?? null;
}

/** The first line on or after a day; null without one. */
export async function findFirstLineFrom(
  db: Reader,
  accountId: number,
  day: string,
): Promise<bigint | null> {
  const [row] = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT nsu FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND occurred_at >= ${statementDayStart(day)}
    ORDER BY occurred_at, nsu LIMIT 1`;
  return row?.nsu ?? null;
}

/** The open breaks of fees whose lines lie in a time, by their lines. */
export async function listOpenFeeBreaks(
  db: Reader,
  accountId: number,
  { from, until }: Window,
): Promise<{ nsu: bigint; isFee: boolean }[]> {
  return db.$queryRaw`
    SELECT l.nsu, ${isFee(l)} AS "isFee"
    FROM break b JOIN statement_line l ON l.account_id = b.account_id AND l.nsu = b.nsu
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND b.kind = 'fee_mismatch'
      AND b.state = 'open' AND l.occurred_at >= ${from} AND l.occurred_at < ${until}`;
}
