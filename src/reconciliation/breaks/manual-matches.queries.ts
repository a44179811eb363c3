// SQL of manual matches, and of the list of matches. All matches of a line are made and undone
// together, since they sum to it.
import { opaqueAccountId, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type Match } from '../../generated/service/client.js';
import type { Page } from '../../platform/http/listing.js';
import { lineBreakKinds, subjectOfLine } from '../decide/break-kinds.js';
import type { ManualLink } from '../decide/model.js';

interface MatchFilters {
  nsu?: bigint | undefined;
  expectedPaymentId?: string | undefined;
}

/** One page, newest first, live and ended matches. */
export async function listMatchRows(
  db: Db,
  accountId: number,
  { nsu, expectedPaymentId }: MatchFilters,
  { after, limit }: Page,
): Promise<Match[]> {
  const ofPayment = Prisma.sql`expected_payment_id = ${expectedPaymentId ?? null}::uuid`;
  const few =
    nsu !== undefined
      ? Prisma.sql`(nsu = ${nsu} AND unlinked_at IS NULL
            OR nsu = ${nsu} AND unlinked_at IS NOT NULL)
          ${expectedPaymentId === undefined ? Prisma.empty : Prisma.sql`AND ${ofPayment}`}`
      : expectedPaymentId === undefined
        ? null
        : ofPayment;
  // Those of a line or of a payment are read by their own index, and not by the order of ids: a
  // payment may have thousands, all of them old.
  const matches =
    few === null
      ? Prisma.sql`match`
      : Prisma.sql`(
          SELECT * FROM match
          WHERE account_id = ${opaqueAccountId(accountId)} AND ${few}
          OFFSET 0)`;
  const afterId = after === null ? Prisma.empty : Prisma.sql`AND m.id < ${after}::uuid`;
  return db.$queryRaw<Match[]>`
    SELECT m.* FROM ${matches} m
    WHERE m.account_id = ${accountId} ${afterId}
    ORDER BY m.id DESC LIMIT ${limit + 1}`;
}

/** Whether a link by a person is in effect: as a match, or as what the line refunds. */
export async function isLinkedManually(tx: Tx, accountId: number, nsu: bigint): Promise<boolean> {
  const where = { accountId, nsu, rule: 'manual' };
  return (
    (await tx.match.count({ where: { ...where, unlinkedAt: null } })) > 0 ||
    (await tx.classification.count({ where: { ...where, category: 'refunded' } })) > 0
  );
}

export interface ManualMatchExpected {
  expectedPaymentId: string;
  isCredit: boolean;
  /** Null where the payer chooses it, or another system declared it: a debit may differ then. */
  amountCents: bigint | null;
  /** The cents that other lines have paid. */
  paidCents: bigint;
  reversedCents: bigint;
}

/** The account's expected payments with these ids. */
export async function listManualMatchExpected(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  ids: string[],
): Promise<ManualMatchExpected[]> {
  return tx.$queryRaw<ManualMatchExpected[]>`
    SELECT e.id AS "expectedPaymentId", e.is_credit,
           CASE WHEN e.external_id IS NULL THEN e.amount_cents END AS amount_cents,
           COALESCE(total.paid_cents, 0)
             - CASE own.role WHEN 'payment' THEN own.amount_cents ELSE 0 END AS "paidCents",
           COALESCE(total.reversed_cents, 0)
             - CASE own.role WHEN 'reversal' THEN own.amount_cents ELSE 0 END AS "reversedCents"
    FROM expected_payment e
    LEFT JOIN expected_payment_total total
      ON total.account_id = e.account_id AND total.expected_payment_id = e.id
    LEFT JOIN match own ON own.account_id = e.account_id AND own.nsu = ${nsu}
      AND own.expected_payment_id = e.id AND own.unlinked_at IS NULL
    WHERE e.account_id = ${opaqueAccountId(accountId)} AND e.id = ANY (${ids}::uuid[])`;
}

export async function listLiveMatches(tx: Tx, accountId: number, nsu: bigint) {
  return tx.match.findMany({
    where: { accountId, nsu, unlinkedAt: null },
    select: { id: true, expectedPaymentId: true, amountCents: true },
    orderBy: { id: 'asc' },
  });
}

/** Records what a person decided about a line. The decision takes effect when it is applied. */
export async function insertLineDecision(
  tx: Tx,
  accountId: number,
  action: 'link' | 'unlink',
  { nsu, allocations, refundOf, decidedBy: { actor, reason } }: ManualLink,
): Promise<void> {
  const { sequence } = await tx.lineDecision.create({
    data: {
      ...{ accountId, nsu, action, actor, reason },
      allocations: allocations.map(({ expectedPaymentId, amountCents }) => ({
        expectedPaymentId,
        cents: amountCents.toString(),
      })),
    },
    select: { sequence: true },
  });
  await tx.linkedOriginal.createMany({
    data: refundOf.map((part, ordinal) => ({ accountId, sequence, ordinal, nsu, ...part })),
  });
}

/** The open breaks of a line without an explanation, and the break that a person acted on. */
export async function listLinkedBreaks(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  breakId: string | null,
): Promise<string[]> {
  const rows = await tx.break.findMany({
    where: {
      accountId,
      state: 'open',
      OR: [
        { nsu, subject: subjectOfLine(nsu), kind: { in: [...lineBreakKinds] } },
        ...(breakId === null ? [] : [{ id: breakId }]),
      ],
    },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id }) => id);
}

/**
 * Marks breaks as resolved automatically after the link that resolved them is undone, so that
 * reconciliation can reopen them. This includes accepted breaks of the line, and accepted breaks
 * about the amount that the line left unpaid. Returns the ids of the breaks.
 */
export async function resetLinkedBreaks(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  subjects: string[],
): Promise<string[]> {
  const isAccepted = { resolution: 'accept' };
  const reset = await tx.break.updateManyAndReturn({
    where: {
      ...{ accountId, subject: { in: subjects }, state: 'resolved' },
      OR: [
        { resolution: 'link' },
        { ...isAccepted, subject: subjectOfLine(nsu) },
        { ...isAccepted, kind: 'underpaid' },
      ],
    },
    data: { resolution: 'automatic' },
    select: { id: true },
  });
  return reset.map(({ id }) => id);
}
