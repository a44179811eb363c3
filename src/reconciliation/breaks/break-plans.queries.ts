// SQL of who works on a break, and until when the list of work leaves it out.
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type BreakPlan } from '../../generated/service/client.js';

export interface PlanFilters {
  /** The id of a person, or `none`. */
  assignee?: string | undefined;
  snoozed?: boolean | undefined;
}

export type ShownPlan = Pick<BreakPlan, 'breakId' | 'assigneeId' | 'snoozedUntil'>;

/** People (p.assignee_id) who have no access any more work on nothing. */
const hasAccess = Prisma.sql`EXISTS (
  SELECT FROM operator o WHERE o.id = p.assignee_id AND o.disabled_at IS NULL
    AND (o.role_everywhere IS NOT NULL OR EXISTS (
      SELECT FROM operator_role r WHERE r.account_id = p.account_id AND r.operator_id = o.id)))`;

const assignedTo = (accountId: number, assignee: string): Prisma.Sql => Prisma.sql`
  SELECT p.break_id FROM break_plan p
  WHERE p.account_id = ${accountId} AND p.assignee_id = ${assignee}::uuid AND ${hasAccess}`;

const assigned = (accountId: number): Prisma.Sql => Prisma.sql`
  SELECT p.break_id FROM break_plan p
  WHERE p.account_id = ${accountId} AND p.assignee_id IS NOT NULL AND ${hasAccess}`;

const snoozedOn = (accountId: number, today: string): Prisma.Sql => Prisma.sql`
  SELECT p.break_id FROM break_plan p
  WHERE p.account_id = ${accountId} AND p.snoozed_until > ${today}`;

/** The few breaks that a plan selects; null where the filters select those without one. */
export function plannedBreaks(
  accountId: number,
  { assignee, snoozed }: PlanFilters,
  today: string,
): Prisma.Sql | null {
  if (assignee !== undefined && assignee !== 'none') return assignedTo(accountId, assignee);
  return snoozed ? snoozedOn(accountId, today) : null;
}

/**
 * What the filters ask of the plan of a break (b). A subquery that names no column of the break is
 * hashed once, and the breaks stay in the order of their index.
 */
export function hasPlan(
  accountId: number,
  { assignee, snoozed }: PlanFilters,
  today: string,
): Prisma.Sql[] {
  const ofPerson =
    assignee === undefined
      ? []
      : assignee === 'none'
        ? [Prisma.sql`b.id NOT IN (${assigned(accountId)})`]
        : [Prisma.sql`b.id IN (${assignedTo(accountId, assignee)})`];
  const isIn = snoozed ? Prisma.sql`IN` : Prisma.sql`NOT IN`;
  const ofDay =
    snoozed === undefined ? [] : [Prisma.sql`b.id ${isIn} (${snoozedOn(accountId, today)})`];
  return [...ofPerson, ...ofDay];
}

/** The plans of these breaks, as they count on a day at the bank. */
export async function listPlans(
  db: Db,
  accountId: number,
  breakIds: readonly string[],
  today: string,
): Promise<ShownPlan[]> {
  if (breakIds.length === 0) return [];
  return db.$queryRaw<ShownPlan[]>`
    SELECT p.break_id, CASE WHEN ${hasAccess} THEN p.assignee_id END AS assignee_id,
           CASE WHEN p.snoozed_until > ${today} THEN p.snoozed_until END AS snoozed_until
    FROM break_plan p
    WHERE p.account_id = ${accountId} AND p.break_id = ANY (${[...breakIds]}::uuid[])`;
}

export async function countSnoozed(db: Db, accountId: number, today: string): Promise<bigint> {
  const [row] = await db.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) FROM (${snoozedOn(accountId, today)}) snoozed`;
  return row?.count ?? 0n;
}

/** The breaks, locked in one order for the transaction. Those of other accounts are missing. */
export async function lockBreaks(tx: Tx, accountId: number, ids: readonly string[]) {
  return tx.$queryRaw<{ id: string; state: 'open' | 'resolved' }[]>`
    SELECT id, state FROM break WHERE account_id = ${accountId} AND id = ANY (${[...ids]}::uuid[])
    ORDER BY id FOR NO KEY UPDATE`;
}

/** Changes one part of the plans. Returns the breaks of which it was another one. */
export async function writePlans(
  tx: Tx,
  accountId: number,
  ids: readonly string[],
  [name, value]: readonly ['assignee_id' | 'snoozed_until', string | null],
): Promise<string[]> {
  const column = Prisma.raw(name);
  const typed = name === 'assignee_id' ? Prisma.sql`${value}::uuid` : Prisma.sql`${value}::text`;
  const rows = await tx.$queryRaw<{ breakId: string }[]>`
    INSERT INTO break_plan AS p (account_id, break_id, ${column})
    SELECT ${accountId}, id, ${typed} FROM unnest(${[...ids]}::uuid[]) AS given(id)
    WHERE ${typed} IS NOT NULL OR EXISTS (
      SELECT FROM break_plan WHERE account_id = ${accountId} AND break_id = given.id)
    ON CONFLICT (account_id, break_id) DO UPDATE SET ${column} = EXCLUDED.${column}
    WHERE p.${column} IS DISTINCT FROM EXCLUDED.${column}
    RETURNING break_id`;
  return rows.map(({ breakId }) => breakId);
}
