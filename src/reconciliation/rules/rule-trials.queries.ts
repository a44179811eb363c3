// SQL of rule trials: reads history page by page.
import { opaqueAccountId, type Db, type Tx } from '../../platform/postgres/database.service.js';
import type { RuleBreakKind } from '../decide/break-kinds.js';
import type { CoveredLine } from '../decide/rule.js';
import { isUndecidedBreak } from '../load/rules.queries.js';

/** How many lines are read at once. */
export const pageSize = 5_000;

export interface TrialPeriod {
  from: Date;
  until: Date;
}

/** A past line, and whether a rule, a reference or a person decided it. */
export interface HistoryLine extends CoveredLine {
  nsu: bigint;
  occurredAt: Date;
  /** The kind of the line's open break; null if it has none. */
  breakKind: RuleBreakKind | null;
  isByRule: boolean;
  /** Whether the line is matched by reference or manually. */
  isMatched: boolean;
  /** Of a classified line. */
  category: string | null;
  /** The account's own rule that decided the line. */
  ruleId: string | null;
  /** What the line is matched to. */
  expectedPaymentIds: string[];
}

/** The lines of the period by time and nsu, page by page. */
export async function* readHistory(
  db: Db,
  accountId: number,
  { from, until }: TrialPeriod,
): AsyncGenerator<HistoryLine[]> {
  let last: Pick<HistoryLine, 'occurredAt' | 'nsu'> | undefined = { occurredAt: from, nsu: -1n };
  while (last) {
    const { occurredAt, nsu } = last;
    const page: HistoryLine[] = await db.$queryRaw<HistoryLine[]>`
      WITH page AS MATERIALIZED (
        SELECT * FROM statement_line
        WHERE account_id = ${accountId} AND occurred_at >= ${occurredAt}
          AND occurred_at < ${until} AND (occurred_at, nsu) > (${occurredAt}, ${nsu}::bigint)
        ORDER BY occurred_at, nsu LIMIT ${pageSize}
      )
      SELECT t.nsu, t.occurred_at, t.is_credit, t.amount_cents, t.type_name, t.counterparty,
             t.counterparty_document, t.notes, open_break.kind AS "breakKind",
             COALESCE(m.is_declared, c.rule = 'declared', false) AS "isByRule",
             m.is_declared IS NOT NULL AND NOT m.is_declared AS "isMatched",
             c.category::text AS category, COALESCE(m.rule_id, c.rule_id::text) AS rule_id,
             COALESCE(m.ids, '{}') AS "expectedPaymentIds"
      FROM page t
      LEFT JOIN LATERAL (
        -- OFFSET 0 makes PostgreSQL search by the line even without statistics.
        SELECT b.kind FROM (
          SELECT * FROM break WHERE account_id = ${accountId} AND nsu = t.nsu OFFSET 0
        ) b
        WHERE ${isUndecidedBreak} LIMIT 1
      ) open_break ON true
      LEFT JOIN LATERAL (
        SELECT bool_and(rule = 'declared') AS is_declared, min(rule_id::text) AS rule_id,
               array_agg(expected_payment_id::text) AS ids
        FROM match
        WHERE account_id = ${accountId} AND nsu = t.nsu AND unlinked_at IS NULL
      ) m ON true
      LEFT JOIN classification c ON c.account_id = ${accountId} AND c.nsu = t.nsu
      ORDER BY t.occurred_at, t.nsu`;
    yield page;
    last = page.length < pageSize ? undefined : page.at(-1);
  }
}

/** A line of which people see what a version would make. */
export interface TriedLine {
  nsu: bigint;
  occurredAt: Date;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
}

export async function listTriedLines(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<TriedLine[]> {
  return db.$queryRaw<TriedLine[]>`
    SELECT t.nsu, t.occurred_at, t.is_credit, t.amount_cents, t.type_name
    FROM unnest(${[...nsus]}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) t`;
}

/** A run without progress for so long has ended with its process. */
const silentSeconds = 120;

/** Whether the account has a run that is not finished. */
export async function hasUnfinishedRun(tx: Tx, accountId: number): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM rule_trial_run
    WHERE account_id = ${accountId} AND trial_id IS NULL AND problem IS NULL
      AND updated_at > clock_timestamp() - ${silentSeconds} * interval '1 second' LIMIT 1`;
  return found.length > 0;
}

export interface TrialRun {
  version: number;
  lines: number;
  trialId: string | null;
  problem: string | null;
  /** It has ended without a result, with its process. */
  isLost: boolean;
}

export async function findTrialRun(
  db: Db,
  accountId: number,
  { id, ruleId }: { id: string; ruleId: string },
): Promise<TrialRun | null> {
  const [run] = await db.$queryRaw<TrialRun[]>`
    SELECT version, lines, trial_id, problem,
           trial_id IS NULL AND problem IS NULL
             AND updated_at <= clock_timestamp() - ${silentSeconds} * interval '1 second'
             AS "isLost"
    FROM rule_trial_run
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND rule_id = ${ruleId}::uuid`;
  return run ?? null;
}

/** What is given changes, and the run has shown that it goes on. */
export async function updateTrialRun(
  db: Db,
  accountId: number,
  id: string,
  { lines, trialId, problem }: { lines?: number; trialId?: string; problem?: string },
): Promise<void> {
  await db.$executeRaw`
    UPDATE rule_trial_run
    SET lines = COALESCE(${lines ?? null}::int, lines),
      trial_id = COALESCE(${trialId ?? null}::uuid, trial_id),
      problem = COALESCE(${problem ?? null}::text, problem), updated_at = clock_timestamp()
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
}
