// Reads the lines of a month with what their journal entries follow from, and stores the entries of
// a closed month. Pages follow the time of the lines.
import {
  arrayColumns,
  opaqueAccountId,
  type Db,
  type Tx,
} from '../../platform/postgres/database.service.js';
import { listCodingFacts } from '../../reconciliation/load/line-coding.queries.js';
import { kindOfLine } from '../exports/line-kind.js';
import type { JournalEntry, JournalLine, StoredPosting } from './journal.js';
import { isPosting } from './journal.js';

/** The line after which a page begins. */
export interface LinePlace {
  occurredAt: Date;
  nsu: bigint;
}

export interface JournalPage {
  until: Date;
  after: LinePlace;
  limit: number;
}

type LineRow = Pick<JournalLine, 'nsu' | 'occurredAt' | 'isCredit' | 'amountCents' | 'state'> & {
  typeName: string;
  billCode: string | null;
};

export async function listJournalLines(
  db: Db,
  accountId: number,
  { until, after, limit }: JournalPage,
): Promise<JournalLine[]> {
  const rows = await db.$queryRaw<LineRow[]>`
    SELECT t.nsu, t.occurred_at, t.is_credit, t.amount_cents, t.type_name, t.bill_code, o.state
    FROM (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND occurred_at >= ${after.occurredAt}
        AND occurred_at < ${until}
        AND (occurred_at, nsu) > (${after.occurredAt}, ${after.nsu}::bigint)
      ORDER BY occurred_at, nsu LIMIT ${limit}
    ) t
    LEFT JOIN line_outcome o ON o.account_id = t.account_id AND o.nsu = t.nsu
    ORDER BY t.occurred_at, t.nsu`;
  const nsus = rows.map(({ nsu }) => nsu);
  const facts = await listCodingFacts(db, accountId, nsus);
  return rows.map(({ typeName, billCode, ...row }) => {
    const coding = facts.get(row.nsu)!;
    const { classification } = coding;
    return { ...row, ...coding, lineKind: kindOfLine({ typeName, classification, billCode }) };
  });
}

/** Of these lines, those that have a posting in the journal. */
export async function listEnteredLines(
  db: Db,
  { accountId, month, revision }: JournalKey,
  nsus: readonly bigint[],
): Promise<Set<bigint>> {
  const rows = await db.journalPosting.findMany({
    where: { accountId, month, revision, nsu: { in: [...nsus] } },
    select: { nsu: true },
    distinct: ['nsu'],
  });
  return new Set(rows.map(({ nsu }) => nsu));
}

export interface JournalKey {
  accountId: number;
  month: string;
  revision: number;
}

/** The postings of so many lines of a closed month. */
export async function listStoredPostings(
  db: Db,
  { accountId, month, revision }: JournalKey,
  { after, limit }: Omit<JournalPage, 'until'>,
): Promise<StoredPosting[]> {
  return db.$queryRaw<StoredPosting[]>`
    WITH lines AS MATERIALIZED (
      SELECT DISTINCT occurred_at, nsu FROM journal_posting
      WHERE account_id = ${accountId} AND month = ${month} AND revision = ${revision}
        AND (occurred_at, nsu) > (${after.occurredAt}, ${after.nsu}::bigint)
      ORDER BY occurred_at, nsu LIMIT ${limit}
    )
    SELECT p.nsu, p.occurred_at, p.is_credit, p.debit_code, p.credit_code, p.amount_cents,
           p.line_kind, p.classification, p.category, p.cost_centre, p.project
    FROM lines l
    JOIN journal_posting p ON p.account_id = ${accountId} AND p.month = ${month}
      AND p.revision = ${revision} AND p.occurred_at = l.occurred_at AND p.nsu = l.nsu
    ORDER BY p.occurred_at, p.nsu, p.ordinal`;
}

export async function insertPostings(
  tx: Tx,
  { accountId, month, revision, chartVersion }: JournalKey & { chartVersion: number },
  entries: readonly JournalEntry[],
): Promise<void> {
  const rows = entries.flatMap(({ nsu, occurredAt, parts }) =>
    parts.filter(isPosting).map((part, ordinal) => ({ ...part, nsu, occurredAt, ordinal })),
  );
  if (rows.length === 0) return;
  const column = arrayColumns(rows);
  await tx.$executeRaw`
    INSERT INTO journal_posting (account_id, month, revision, chart_version, occurred_at, nsu,
      ordinal, is_credit, debit_code, credit_code, amount_cents, line_kind, classification,
      category, cost_centre, project)
    SELECT ${accountId}, ${month}, ${revision}, ${chartVersion}, * FROM unnest(
      ${column(({ occurredAt }) => occurredAt, 'timestamptz')},
      ${column(({ nsu }) => nsu, 'bigint')}, ${column(({ ordinal }) => ordinal, 'int')},
      ${column(({ isCredit }) => isCredit, 'boolean')},
      ${column(({ debitCode }) => debitCode, 'text')},
      ${column(({ creditCode }) => creditCode, 'text')},
      ${column(({ amountCents }) => amountCents, 'bigint')},
      ${column(({ lineKind }) => lineKind, 'text')},
      ${column(({ classification }) => classification, 'text')},
      ${column(({ category }) => category, 'text')},
      ${column(({ costCentre }) => costCentre, 'text')},
      ${column(({ project }) => project, 'text')})`;
}

/** The closes of the account that no reopening has ended. */
export async function listStandingCloses(db: Db, accountId: number) {
  const where = { accountId, NOT: { action: 'accept' } } as const;
  const decisions = await db.monthDecision.findMany({ where, orderBy: { sequence: 'asc' } });
  const last = new Map(decisions.map(({ month, sequence }) => [month, sequence]));
  const closes = await db.monthClose.findMany({ where: { accountId }, omit: { report: true } });
  return closes.filter(({ month, approval }) => last.get(month) === approval);
}

/** Of the stored journal of a closed month; null for an open month, or without a mapping. */
export async function findRevision(
  db: Db,
  accountId: number,
  month: string,
): Promise<number | null> {
  const standing = (await listStandingCloses(db, accountId)).find((one) => one.month === month);
  if (!standing) return null;
  const { revision } = standing;
  const stored = await db.journal.count({ where: { accountId, month, revision } });
  return stored > 0 ? revision : null;
}
