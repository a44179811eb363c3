// Finds the first gap of a stored balance chain. Reads only the lines that the check needs.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import {
  balanceBefore,
  checkBalanceChain,
  linkWindow,
  type BalanceChainCheck,
  type ChainLink,
  type Gap,
  type Jump,
} from './balance-chain.js';

const pageSize = 5_000;
/** The amount of a statement line: negative for a debit. */
export const lineCents = Prisma.sql`CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END`;

/** The lines of one slice: a history is checked slice by slice, each in a short time. */
const sliceLines = 50_000;

interface CheckedSlice {
  gap: Gap | null;
  /**
   * The balance that the chain reached; null if it is the balance on the line with the highest nsu.
   */
  balance: bigint | null;
  jumps: Jump[];
  /** Where the next slice begins; null at a gap and at the end. */
  nextNsu: bigint | null;
}

/**
 * Checks one slice of the chain after new lines were stored from `fromNsu` on. The lines just below
 * are checked again: If these lines are numbered out of order, a new line may seem to follow the
 * highest nsu, although the chain ended at another line.
 */
export async function checkChainFrom(
  db: Db,
  accountId: number,
  fromNsu: bigint,
): Promise<CheckedSlice> {
  const [below] = await db.$queryRaw<{ nsu: bigint | null }[]>`
    SELECT min(nsu) AS nsu FROM (
      SELECT nsu FROM statement_line WHERE account_id = ${accountId} AND nsu < ${fromNsu}
      ORDER BY nsu DESC LIMIT ${linkWindow}) near`;
  return checkSlice(db, accountId, below?.nsu ?? fromNsu);
}

/**
 * The first gap at or above `fromNsu`. Lines above `untilNsu` are ignored.
 * - `jumps`: the jumps at accepted gaps, from somewhat before `fromNsu` on.
 * - `alsoAccepted`: gaps to treat as accepted by a person, whatever their jump.
 */
export async function findGap(
  db: Db,
  accountId: number,
  fromNsu: bigint,
  untilNsu: bigint | null = null,
  alsoAccepted: readonly bigint[] = [],
): Promise<{ gap: Gap | null; jumps: Jump[] }> {
  const jumps = new Map<bigint, Jump>();
  for (let nextNsu = fromNsu; ;) {
    const slice = await checkSlice(db, accountId, nextNsu, { untilNsu, alsoAccepted });
    for (const jump of slice.jumps) if (!jumps.has(jump.nsu)) jumps.set(jump.nsu, jump);
    if (slice.nextNsu === null) return { gap: slice.gap, jumps: [...jumps.values()] };
    nextNsu = slice.nextNsu;
  }
}

/**
 * Checks lines from somewhat before `fromNsu` on. A slice whose lines follow one another in nsu
 * order is passed quickly. Otherwise the slice ends soon after the first line that does not follow,
 * and the next slice begins at a line that the chain has passed.
 */
async function checkSlice(
  db: Db,
  accountId: number,
  fromNsu: bigint,
  options: { untilNsu?: bigint | null; alsoAccepted?: readonly bigint[] } = {},
): Promise<CheckedSlice> {
  const { untilNsu = null, alsoAccepted = [] } = options;
  const end = await findSliceEnd(db, accountId, fromNsu, untilNsu);
  const suspect = await findSuspect(db, accountId, fromNsu, end ?? untilNsu);
  if (suspect === null) return { gap: null, balance: null, jumps: [], nextNsu: end };
  const acceptedJumps = (await listAcceptedJumps(db, accountId)).filter(({ isAtGap }) => isAtGap);
  const isAccepted = ({ nsu, cents }: Jump) =>
    alsoAccepted.includes(nsu) ||
    acceptedJumps.some((accepted) => accepted.nsu === nsu && accepted.cents === cents);
  const page = await listLinks(db, accountId, suspect);
  const links = [...(await listLinksBefore(db, accountId, suspect)), ...page];
  const isCut = page.length === pageSize;
  const { gap, balance, jumps, resume } = checkFromBestStart(links, suspect, { isAccepted, isCut });
  const isBeyond = (nsu: bigint | undefined) =>
    untilNsu !== null && nsu !== undefined && nsu > untilNsu;
  if (gap) return { gap: isBeyond(gap.nsu) ? null : gap, balance: null, jumps, nextNsu: null };
  const next = isCut && !isBeyond(page.at(-1)?.nsu) ? links[resume.index] : undefined;
  return { gap: null, balance, jumps, nextNsu: next?.nsu ?? null };
}

/** The last line of a full slice; null when fewer lines are left. */
async function findSliceEnd(
  db: Db,
  accountId: number,
  fromNsu: bigint,
  untilNsu: bigint | null,
): Promise<bigint | null> {
  const end = await db.statementLine.findFirst({
    where: { accountId, nsu: { gt: fromNsu, ...(untilNsu === null ? {} : { lte: untilNsu }) } },
    orderBy: { nsu: 'asc' },
    skip: sliceLines - 1,
    select: { nsu: true },
  });
  return end?.nsu ?? null;
}

/**
 * Checks the chain from the best of the lines before the suspect. Those lines were checked before.
 * But a check that begins among lines numbered out of order reports a false gap. The best start is
 * the line from which the check links the most lines.
 */
function checkFromBestStart(
  links: readonly ChainLink[],
  suspect: bigint,
  options: { isAccepted: (jump: Jump) => boolean; isCut: boolean },
): BalanceChainCheck {
  let best: BalanceChainCheck | null = null;
  for (let first = 0; first <= linkWindow && first < links.length; first += 1) {
    const check = checkBalanceChain(links.slice(first), { ...options, start: null });
    const isFurther = !check.gap || !best?.gap || check.gap.nsu > best.gap.nsu;
    if (!best || isFurther)
      best = { ...check, resume: { ...check.resume, index: check.resume.index + first } };
    if (!check.gap || check.gap.nsu >= suspect || links[first]?.nsu === suspect) break;
  }
  return best ?? checkBalanceChain(links, { ...options, start: null });
}

/**
 * The first line whose balances do not add up with its own amount, or do not follow from the line
 * with the next lower nsu.
 */
async function findSuspect(
  db: Db,
  accountId: number,
  fromNsu: bigint,
  untilNsu: bigint | null,
): Promise<bigint | null> {
  const before = await db.statementLine.findFirst({
    where: { accountId, nsu: { lt: fromNsu } },
    orderBy: { nsu: 'desc' },
    select: { nsu: true },
  });
  // Bounds are values: an expression would hide them from the planner, which then reads all lines.
  const from = before?.nsu ?? fromNsu;
  const until = untilNsu === null ? Prisma.empty : Prisma.sql`AND nsu <= ${untilNsu}`;
  const [suspect] = await db.$queryRaw<{ nsu: bigint }[]>`
    WITH lines AS (
      SELECT nsu, balance_previous_cents AS previous, current_balance_cents AS current,
             ${lineCents} AS signed_cents,
             lag(current_balance_cents) OVER (ORDER BY nsu) AS balance_before
      FROM statement_line
      WHERE account_id = ${accountId} AND nsu >= ${from} ${until}
    )
    SELECT nsu FROM lines
    WHERE previous + signed_cents <> current OR balance_before <> previous
    ORDER BY nsu LIMIT 1`;
  return suspect?.nsu ?? null;
}

const selectLinks = Prisma.sql`
  SELECT nsu, balance_previous_cents AS previous, current_balance_cents AS current,
         ${lineCents} AS signed
  FROM statement_line`;

/** The account's balance before the first line of its history; null while there is no line. */
export async function readInitialBalance(db: Db, accountId: number): Promise<bigint | null> {
  const links = await db.$queryRaw<ChainLink[]>`
    ${selectLinks} WHERE account_id = ${accountId} ORDER BY nsu LIMIT ${2 * linkWindow}`;
  return balanceBefore(links, links.length === 2 * linkWindow);
}

async function listLinks(db: Db, accountId: number, fromNsu: bigint): Promise<ChainLink[]> {
  return db.$queryRaw<ChainLink[]>`
    ${selectLinks} WHERE account_id = ${accountId} AND nsu >= ${fromNsu}
    ORDER BY nsu LIMIT ${pageSize}`;
}

async function listLinksBefore(db: Db, accountId: number, nsu: bigint): Promise<ChainLink[]> {
  const links = await db.$queryRaw<ChainLink[]>`
    ${selectLinks} WHERE account_id = ${accountId} AND nsu < ${nsu}
    ORDER BY nsu DESC LIMIT ${linkWindow}`;
  return links.reverse();
}

interface AcceptedJump extends Jump {
  breakId: string;
  subject: string;
  reason: string | null;
  /** Whether it was accepted at a gap, after which the chain continues, and not at a day. */
  isAtGap: boolean;
}

/** Jumps of the balance chain that persons accepted, at gaps and at days, oldest first. */
export async function listAcceptedJumps(db: Db, accountId: number): Promise<AcceptedJump[]> {
  return db.$queryRaw<AcceptedJump[]>`
    SELECT b.id AS "breakId", b.subject, b.resolution_reason AS reason,
           b.nsu IS NOT NULL AS "isAtGap",
           (jump->>'nsu')::bigint AS nsu, (jump->>'cents')::bigint AS cents
    FROM break b CROSS JOIN LATERAL jsonb_array_elements(b.evidence->'jumps') jump
    WHERE b.account_id = ${accountId} AND b.kind = 'broken_balance_chain'
      AND b.state = 'resolved' AND b.resolution <> 'automatic'
    ORDER BY b.resolved_at, b.id`;
}
