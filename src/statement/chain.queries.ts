// The SQL of the chain: finds the first line that does not follow, as far as lines must be looked at to say so.
import type { Db } from '../database.service.js';
import {
  balanceBefore,
  linkWindow,
  walkChain,
  type Gap,
  type Jump,
  type Link,
  type Walked,
} from './chain.js';

const pageSize = 5_000;

/**
 * What new lines from `fromNsu` on make of the chain. Those just below are looked at again: where they are numbered out of
 * order, a new line may seem to follow the highest of them, which is not what the chain had come to.
 */
export async function proveFrom(
  db: Db,
  accountId: number,
  fromNsu: bigint,
): Promise<{ gap: Gap | null; balance: bigint | null }> {
  const [below] = await db.$queryRaw<{ nsu: bigint | null }[]>`
    SELECT min(nsu) AS nsu FROM (
      SELECT nsu FROM statement_line WHERE account_id = ${accountId} AND nsu < ${fromNsu}
      ORDER BY nsu DESC LIMIT ${linkWindow}) near`;
  return findGap(db, accountId, below?.nsu ?? fromNsu);
}

/**
 * The first hole from `fromNsu` on, below which the chain is proved, and what the chain has come to; no balance where
 * that is what the line with the highest number says. Lines above `untilNsu` are of no interest. `alsoAccepted` are taken
 * for holes that a person has accepted, whatever they jump by; `jumps` are at those that the walk came by, from somewhat before `fromNsu` on.
 */
export async function findGap(
  db: Db,
  accountId: number,
  fromNsu: bigint,
  untilNsu: bigint | null = null,
  alsoAccepted: readonly bigint[] = [],
): Promise<{ gap: Gap | null; balance: bigint | null; jumps: Jump[] }> {
  const suspect = await findSuspect(db, accountId, fromNsu, untilNsu);
  if (suspect === null) return { gap: null, balance: null, jumps: [] };
  const jumpsTaken = await listAccepted(db, accountId);
  const isAccepted = ({ nsu, cents }: Jump) =>
    alsoAccepted.includes(nsu) ||
    jumpsTaken.some((taken) => taken.nsu === nsu && taken.cents === cents);
  let page = await listLinks(db, accountId, suspect);
  let links = [...(await listLinksBefore(db, accountId, suspect)), ...page];
  let walked = takeUp(links, suspect, { isAccepted, isCut: page.length === pageSize });
  const jumps = [...walked.jumps];
  while (!walked.gap && page.length === pageSize) {
    const last = page.at(-1)?.nsu ?? 0n;
    if (untilNsu !== null && last > untilNsu) break;
    page = await listLinks(db, accountId, last + 1n);
    links = [...links.slice(walked.resume.index), ...page];
    const isCut = page.length === pageSize;
    walked = walkChain(links, { start: walked.resume.balance, isCut, isAccepted });
    jumps.push(...walked.jumps);
  }
  const { gap, balance } = walked;
  if (gap && untilNsu !== null && gap.nsu > untilNsu) return { gap: null, balance: null, jumps };
  return { gap, balance: gap ? null : balance, jumps };
}

/**
 * Walks from some line before the suspect: those are proved, but the first of them may stand among lines of another
 * order. The one from which the walk gets furthest is no such line.
 */
function takeUp(
  links: readonly Link[],
  suspect: bigint,
  options: { isAccepted: (jump: Jump) => boolean; isCut: boolean },
): Walked {
  let best: Walked | null = null;
  for (let first = 0; first <= linkWindow && first < links.length; first += 1) {
    const walked = walkChain(links.slice(first), { ...options, start: null });
    const isFurther = !walked.gap || !best?.gap || walked.gap.nsu > best.gap.nsu;
    if (!best || isFurther)
      best = { ...walked, resume: { ...walked.resume, index: walked.resume.index + first } };
    if (!walked.gap || walked.gap.nsu >= suspect || links[first]?.nsu === suspect) break;
  }
  return best ?? walkChain(links, { ...options, start: null });
}

/** The first line whose balances do not follow from its own sum, or from the line with the number before. */
async function findSuspect(
  db: Db,
  accountId: number,
  fromNsu: bigint,
  untilNsu: bigint | null,
): Promise<bigint | null> {
  const [suspect] = await db.$queryRaw<{ nsu: bigint }[]>`
    WITH span AS (
      SELECT nsu, balance_previous_cents AS previous, current_balance_cents AS current,
             CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS signed_cents,
             lag(current_balance_cents) OVER (ORDER BY nsu) AS neighbour
      FROM statement_line
      WHERE account_id = ${accountId} AND nsu >= COALESCE(
        (SELECT max(nsu) FROM statement_line WHERE account_id = ${accountId} AND nsu < ${fromNsu}),
        ${fromNsu}) AND (${untilNsu}::bigint IS NULL OR nsu <= ${untilNsu}::bigint)
    )
    SELECT nsu FROM span
    WHERE previous + signed_cents <> current OR neighbour <> previous
    ORDER BY nsu LIMIT 1`;
  return suspect?.nsu ?? null;
}

/** What the account held before the first line of its history; null while there is none. */
export async function readBeginning(db: Db, accountId: number): Promise<bigint | null> {
  const links = await db.$queryRaw<Link[]>`
    SELECT nsu, balance_previous_cents AS previous, current_balance_cents AS current,
           CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS signed
    FROM statement_line WHERE account_id = ${accountId} ORDER BY nsu LIMIT ${2 * linkWindow}`;
  return balanceBefore(links, links.length === 2 * linkWindow);
}

async function listLinks(db: Db, accountId: number, fromNsu: bigint): Promise<Link[]> {
  return db.$queryRaw<Link[]>`
    SELECT nsu, balance_previous_cents AS previous, current_balance_cents AS current,
           CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS signed
    FROM statement_line WHERE account_id = ${accountId} AND nsu >= ${fromNsu}
    ORDER BY nsu LIMIT ${pageSize}`;
}

async function listLinksBefore(db: Db, accountId: number, nsu: bigint): Promise<Link[]> {
  const links = await db.$queryRaw<Link[]>`
    SELECT nsu, balance_previous_cents AS previous, current_balance_cents AS current,
           CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS signed
    FROM statement_line WHERE account_id = ${accountId} AND nsu < ${nsu}
    ORDER BY nsu DESC LIMIT ${linkWindow}`;
  return links.reverse();
}

/** Holes that a person has taken for what they are, each with its jump: the chain goes on behind them. */
async function listAccepted(db: Db, accountId: number): Promise<Jump[]> {
  return db.$queryRaw<Jump[]>`
    SELECT (jump->>'nsu')::bigint AS nsu, (jump->>'cents')::bigint AS cents
    FROM break CROSS JOIN LATERAL jsonb_array_elements(break.evidence->'jumps') jump
    WHERE account_id = ${accountId} AND kind = 'broken_balance_chain' AND state = 'resolved'
      AND resolution <> 'automatic' AND nsu IS NOT NULL`;
}
