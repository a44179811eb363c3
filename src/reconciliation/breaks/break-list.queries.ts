// SQL of the list of breaks: its pages in any order, and what its filters select in total.
import type { RouteInput } from '../../bank-contract/route.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { foundRows, type RowOfPage } from '../../platform/http/examined-ids.queries.js';
import { BreakState, Prisma, type Break } from '../../generated/service/client.js';
import { lastUuid } from '../../platform/ids.js';
import { isUuid, type FoundRows, type Page } from '../../platform/http/listing.js';
import type { StoredBreak } from '../load/stored-breaks.queries.js';
import type { listBreaks } from './breaks.schema.js';
import { openedDay, pointsOfBreak, severityOfBreak } from './severity.queries.js';
import { hasPlan, plannedBreaks } from './break-plans.queries.js';
import { severities, severityPoints, type Severity, type SeverityScale } from './severity.js';

export type BreakFilters = RouteInput<typeof listBreaks>['query'];

/** What a break is shown by, and its place in the order of the list. */
export type BreakRow = StoredBreak &
  Pick<Break, 'amountCents' | 'openedAt' | 'openedDay' | 'resolvedAt' | 'resolution'> & {
    evidence: unknown;
  };
export type BreakOfList = BreakRow & { place: bigint | null };

/**
 * A list is searched so far: in its own index, whose entries have all that filters and orders ask
 * for.
 */
const maxExamined = 100_000;

/** The place of a break in the order of the list, and its id, as a cursor has them. */
const placeText = /^(-?\d{1,18})~(.+)$/;

export function isBreakPlace(text: string): boolean {
  return isUuid(placeText.exec(text)?.[2] ?? text);
}

export function placeOfBreak({ id, place }: { id: string; place: bigint | null }): string {
  return place === null ? id : `${place}~${id}`;
}

/** What comes before the id in the order of the list; null in the order of ids: that of opening. */
function placeIn({ sort }: BreakFilters, scale: SeverityScale): Prisma.Sql | null {
  // A break without an amount stands below one of nothing.
  if (sort === 'amount') return Prisma.sql`COALESCE(b.amount_cents, -1)`;
  // The same on each day, for the cursors.
  if (sort === 'age') return Prisma.sql`(date '9999-12-31' - ${openedDay}::date)::bigint`;
  if (sort !== 'severity') return null;
  // Of the same severity by amount, then by age: digits of one number, as a cursor has it.
  const age = Prisma.sql`(date '2200-01-01' - ${openedDay}::date)`;
  return Prisma.sql`(${severityOfBreak(scale)} * 100000000000000000
    + LEAST(COALESCE(b.amount_cents, -1) + 1, 999999999999) * 100000
    + LEAST(GREATEST(${age}, 0), 99999))::bigint`;
}

/** By age, amount or severity, all breaks that the filters select are compared: open ones only. */
function stateOf({ state, severity, sort = 'opened' }: BreakFilters): BreakState | null {
  return state ?? (severity !== undefined || sort !== 'opened' ? 'open' : null);
}

const hasSeverity = (severity: Severity | undefined, scale: SeverityScale): Prisma.Sql => {
  if (severity === undefined) return Prisma.sql`true`;
  const index = severities.indexOf(severity);
  const from = severityPoints[index - 1] ?? 0;
  const until = severityPoints[index] ?? 1_000;
  return Prisma.sql`b.state = 'open' AND ${pointsOfBreak(scale)} >= ${from}::int
    AND ${pointsOfBreak(scale)} < ${until}::int`;
};

/** What the filters ask of a break (b) beyond the index that finds it. */
function conditionOf(accountId: number, filters: BreakFilters, scale: SeverityScale): Prisma.Sql {
  const { kind, minAmount, maxAmount, openedFrom, openedTo, severity, ...others } = filters;
  const state = stateOf(filters);
  const conditions = [
    state !== null && Prisma.sql`b.state = ${state}::break_state`,
    kind !== undefined && Prisma.sql`b.kind = ${kind}`,
    minAmount !== undefined && Prisma.sql`b.amount_cents >= ${minAmount}::bigint`,
    maxAmount !== undefined && Prisma.sql`b.amount_cents <= ${maxAmount}::bigint`,
    openedFrom !== undefined && Prisma.sql`${openedDay} >= ${openedFrom}`,
    openedTo !== undefined && Prisma.sql`${openedDay} <= ${openedTo}`,
    severity !== undefined && hasSeverity(severity, scale),
    ...hasPlan(accountId, others, scale.today),
  ].filter((one) => one !== false);
  return conditions.length === 0 ? Prisma.sql`true` : Prisma.join(conditions, ' AND ');
}

/** Whether an index finds the breaks: each candidate is one of the list. */
function isByKindAndState(filters: BreakFilters): boolean {
  const others = Object.entries(filters).filter(([, value]) => value !== undefined);
  return others.every(([name]) =>
    ['kind', 'state', 'sort', 'order', 'cursor', 'limit'].includes(name),
  );
}

/** The order of ids as an index has it, so that a page reads no more than it shows. */
const byIndex = (filters: BreakFilters, direction: Prisma.Sql): Prisma.Sql => {
  const state = stateOf(filters);
  const { kind, nsu, expectedPaymentId } = filters;
  const isBare = state === null || nsu !== undefined || expectedPaymentId !== undefined;
  const names = isBare ? ['id'] : kind === undefined ? ['state', 'id'] : ['state', 'kind', 'id'];
  return Prisma.join(names.map((name) => Prisma.sql`${Prisma.raw(name)} ${direction}`));
};

const columns = Prisma.sql`id, state, kind, amount_cents, opened_day, opened_at`;
const firstUuid = '00000000-0000-0000-0000-000000000000';

/**
 * A query of the breaks that an index finds for these filters, in the order of ids, from `after`
 * on.
 */
function candidateBreaks(
  accountId: number,
  filters: BreakFilters,
  { after, isAscending, most }: { after: string | null; isAscending: boolean; most: number },
  today: string,
): Prisma.Sql {
  const { kind, nsu, expectedPaymentId } = filters;
  const state = stateOf(filters);
  const [beyond, until, direction] = isAscending
    ? [Prisma.sql`>`, Prisma.sql`<=`, Prisma.sql`ASC`]
    : [Prisma.sql`<`, Prisma.sql`>=`, Prisma.sql`DESC`];
  const [first, last] = isAscending ? [firstUuid, lastUuid] : [lastUuid, firstUuid];
  const from = after ?? first;
  const planned = plannedBreaks(accountId, filters, today);
  if (nsu !== undefined || expectedPaymentId !== undefined || planned) {
    const payment = expectedPaymentId ?? null;
    const condition = Prisma.sql`(${nsu ?? null}::bigint IS NULL OR nsu = ${nsu ?? null}::bigint)
      AND (${payment}::uuid IS NULL OR expected_payment_id = ${payment}::uuid)`;
    // Not by the order of ids, in which all breaks might be read for a few.
    const indexed =
      nsu !== undefined
        ? Prisma.sql`nsu = ${nsu}::bigint`
        : payment === null && planned
          ? Prisma.sql`id IN (${planned})`
          : Prisma.sql`expected_payment_id = ${payment}::uuid`;
    return Prisma.sql`
      SELECT ${columns} FROM (SELECT * FROM break
        WHERE account_id = ${accountId} AND ${indexed} OFFSET 0) few
      WHERE ${condition} AND id ${beyond} ${from}::uuid ORDER BY id ${direction}`;
  }
  if (kind === undefined && state === null)
    return Prisma.sql`
      SELECT ${columns} FROM break
      WHERE account_id = ${accountId} AND id ${beyond} ${from}::uuid ORDER BY id ${direction}`;
  // The bounds and the order are those of the index by state, or by state and kind. With equality
  // and the order of ids, all breaks might be read for a kind that has none.
  if (kind === undefined)
    return Prisma.sql`
      SELECT ${columns} FROM break
      WHERE account_id = ${accountId}
        AND (state, id) ${beyond} (${state}::break_state, ${from}::uuid)
        AND (state, id) ${until} (${state}::break_state, ${last}::uuid)
      ORDER BY ${byIndex(filters, direction)}`;
  const states = state === null ? Object.values(BreakState) : [state];
  const parts = states.map(
    (one) => Prisma.sql`
      SELECT ${columns} FROM break
      WHERE account_id = ${accountId}
        AND (state, kind, id) ${beyond} (${one}::break_state, ${kind}, ${from}::uuid)
        AND (state, kind, id) ${until} (${one}::break_state, ${kind}, ${last}::uuid)
      ORDER BY state ${direction}, kind ${direction}, id ${direction}`,
  );
  if (parts.length === 1) return Prisma.join(parts);
  const bounded = parts.map((part) => Prisma.sql`(${part} LIMIT ${most})`);
  return Prisma.sql`${Prisma.join(bounded, ' UNION ALL ')} ORDER BY id ${direction}`;
}

/** One page, by the order of the query. The scale is that of today at the bank. */
export async function listBreakRows(
  db: Db,
  accountId: number,
  filters: BreakFilters,
  { after, limit }: Page,
  scale: SeverityScale,
): Promise<FoundRows<BreakOfList>> {
  const place = placeIn(filters, scale);
  const isAscending = filters.order === 'asc';
  const [, afterPlace = null, afterId = after] = placeText.exec(after ?? '') ?? [];
  // By another order than that of ids, all candidates are compared.
  const most = place === null && isByKindAndState(filters) ? limit + 1 : maxExamined;
  const begin = { after: place === null ? afterId : null, isAscending, most };
  const examined = candidateBreaks(accountId, filters, begin, scale.today);
  const direction = isAscending ? Prisma.sql`ASC` : Prisma.sql`DESC`;
  const order =
    place === null
      ? byIndex(filters, direction)
      : Prisma.sql`place ${direction}, b.id ${direction}`;
  const beyond = isAscending ? Prisma.sql`>` : Prisma.sql`<`;
  const isAfter =
    place === null || afterPlace === null
      ? Prisma.sql`true`
      : Prisma.sql`(${place}, b.id) ${beyond} (${BigInt(afterPlace)}::bigint, ${afterId}::uuid)`;
  const lastExamined = place === null ? Prisma.sql`(${examined} OFFSET ${most - 1} LIMIT 1)` : null;
  const rows = await db.$queryRaw<RowOfPage<BreakOfList, string>[]>`
    SELECT page.*, CASE WHEN count(page.id) OVER () <= ${limit} THEN (
      SELECT id FROM ${lastExamined ?? Prisma.sql`(SELECT NULL::uuid AS id)`} last
    ) END AS last_examined
    FROM (SELECT 1) one LEFT JOIN (
      SELECT b.id, b.kind, b.state, b.subject, b.amount_cents, b.nsu, b.expected_payment_id,
             b.evidence, b.opened_at, b.opened_day, b.resolved_at, b.resolution, listed.place
      FROM (
        SELECT b.id, ${place ?? Prisma.sql`NULL::bigint`} AS place
        FROM (${examined} LIMIT ${most}) b
        WHERE ${conditionOf(accountId, filters, scale)} AND ${isAfter}
        ORDER BY ${order} LIMIT ${limit + 1}
      ) listed
      CROSS JOIN LATERAL (
        SELECT * FROM break WHERE account_id = ${accountId} AND id = listed.id OFFSET 0
      ) b
    ) page ON true
    ORDER BY page.place ${direction}, page.id ${direction}`;
  return foundRows(rows, 'id');
}

/** The place of a break in the order of the query; null where it has none. */
export async function findBreakPlace(
  db: Db,
  accountId: number,
  filters: BreakFilters,
  id: string,
  scale: SeverityScale,
): Promise<string | null> {
  const place = placeIn(filters, scale);
  const [found] = await db.$queryRaw<{ id: string; place: bigint | null }[]>`
    SELECT b.id, ${place ?? Prisma.sql`NULL::bigint`} AS place FROM break b
    WHERE b.account_id = ${accountId} AND b.id = ${id}::uuid`;
  return found ? placeOfBreak(found) : null;
}

/** Open breaks of a kind that were opened on a day. */
export interface BreakTotal {
  kind: string;
  openedDay: string;
  breaks: bigint;
  /** Of those with an amount. */
  cents: bigint;
}

/** What the filters select of the open breaks. */
export async function totalOpenBreaks(
  db: Db,
  accountId: number,
  filters: BreakFilters,
  scale: SeverityScale,
): Promise<BreakTotal[]> {
  const { nsu = null, expectedPaymentId: payment = null } = filters;
  return db.$queryRaw<BreakTotal[]>`
    SELECT b.kind, ${openedDay} AS opened_day, count(*) AS breaks,
           COALESCE(sum(b.amount_cents), 0)::bigint AS cents
    FROM break b
    WHERE b.account_id = ${accountId} AND b.state = 'open'
      AND ${conditionOf(accountId, filters, scale)}
      AND (${nsu}::bigint IS NULL OR b.nsu = ${nsu}::bigint)
      AND (${payment}::uuid IS NULL OR b.expected_payment_id = ${payment}::uuid)
    GROUP BY 1, 2`;
}
