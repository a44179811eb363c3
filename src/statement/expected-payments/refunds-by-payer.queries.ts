// Reads which debits without the id of their Pix may refund a Pix, and which Pix such a debit may
// refund. A line that shows neither tax id nor account may be of any payer.
import { otherThanPixPattern, undoingPattern } from '../../bank-contract/line-types.js';
import { refundWindowDays } from '../../bank-contract/refunds.js';
import {
  opaqueAccountId,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { groupBy } from '../../platform/grouping.js';
import { lineReferenceKinds } from './references.js';
import { maxPossibleOriginals, type PossibleOriginal } from './refunds-by-payer.js';
import { isReceivedPix } from './received-pix.queries.js';

/** Whether the decision that made this part of a link (part) is the last one about its line. */
export const isStanding = Prisma.sql`NOT EXISTS (
  SELECT FROM line_decision later
  WHERE later.account_id = part.account_id AND later.nsu = part.nsu
    AND later.sequence > part.sequence)`;

/** The ids that a line (l) carries, as kind and value. */
const idsOfLine = Prisma.join(
  lineReferenceKinds.map(
    ({ kind, column }) => Prisma.sql`(${kind}, ${Prisma.raw(`l.${column}::text`)})`,
  ),
);

/**
 * Whether a line (l) is a debit that may refund a Pix, and no id and no link says which. Its first
 * part must equal the condition of the index statement_line_unnamed_refund.
 */
const isUnattributed = Prisma.sql`(
  l.is_credit = false AND l.original_end_to_end_id IS NULL
  AND l.type_name ~* ${Prisma.raw(`'${undoingPattern}'`)}
  AND l.type_name !~* ${Prisma.raw(`'${otherThanPixPattern}'`)}
  AND NOT EXISTS (SELECT FROM statement_line named
    WHERE named.account_id = l.account_id AND named.end_to_end_id = l.end_to_end_id
      AND named.is_credit AND named.type_name !~* ${Prisma.raw(`'${undoingPattern}'`)})
  AND NOT EXISTS (SELECT FROM expected_payment_reference named
    JOIN refund r ON r.account_id = named.account_id
      AND r.expected_payment_id = named.expected_payment_id
    WHERE named.account_id = l.account_id AND (named.kind, named.value) IN (${idsOfLine}))
  AND NOT EXISTS (SELECT FROM linked_original part
    WHERE part.account_id = l.account_id AND part.nsu = l.nsu AND ${isStanding})
  -- What its payer said was kept when the payer was erased.
  AND NOT EXISTS (SELECT FROM reported_reference kept
    WHERE kept.account_id = l.account_id AND kept.nsu = l.nsu AND l.salt IS NULL
      AND kept.kind = 'original_end_to_end_id'))`;

const windowDays = Prisma.sql`${refundWindowDays + 1} * interval '1 day'`;

/**
 * The debits that may refund a received Pix (pix), and that nothing ties to one: those of its
 * payer, and those of its amount or less where one of both shows no payer.
 */
export const unattributedDebits = (accountId: number, pix: Prisma.Sql) => Prisma.sql`
  SELECT l.* FROM statement_line l
  WHERE l.account_id = ${opaqueAccountId(accountId)}
    AND l.occurred_at BETWEEN ${pix}.occurred_at AND ${pix}.occurred_at + ${windowDays}
    AND (l.counterparty_document = ${pix}.counterparty_document
      OR l.counterparty = ${pix}.counterparty
      OR (l.counterparty_document IS NULL OR ${pix}.counterparty_document IS NULL)
        AND (l.counterparty IS NULL OR ${pix}.counterparty IS NULL)
        AND l.amount_cents <= ${pix}.amount_cents)
    AND ${isUnattributed}`;

/** The received Pix that each of these debits may refund, 51 at most; none if a person decided. */
export async function findPossibleOriginals(
  db: Reader,
  accountId: number,
  nsus: readonly bigint[],
): Promise<Map<bigint, PossibleOriginal[]>> {
  if (nsus.length === 0) return new Map();
  const received = (condition: Prisma.Sql) => Prisma.sql`
    SELECT * FROM statement_line credit
    WHERE account_id = ${opaqueAccountId(accountId)} AND is_credit
      AND end_to_end_id IS NOT NULL AND ${condition}
      AND occurred_at BETWEEN l.occurred_at - ${windowDays} AND l.occurred_at`;
  const mayBeOfAccount = Prisma.sql`
    (counterparty = l.counterparty OR counterparty IS NULL OR l.counterparty IS NULL)`;
  const rows = await db.$queryRaw<(PossibleOriginal & { debit: bigint })[]>`
    SELECT l.nsu AS debit, pix.nsu,
           (pix.counterparty_document = l.counterparty_document
             OR pix.counterparty = l.counterparty) IS TRUE AS "isOfPayer"
    FROM unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) l
    CROSS JOIN LATERAL (
      SELECT * FROM (
        ${received(Prisma.sql`counterparty_document = l.counterparty_document`)}
        UNION ALL
        ${received(Prisma.sql`counterparty_document IS NULL
          AND l.counterparty_document IS NOT NULL AND ${mayBeOfAccount}`)}
        UNION ALL
        ${received(Prisma.sql`l.counterparty_document IS NULL AND ${mayBeOfAccount}`)}
      ) one
      WHERE amount_cents >= l.amount_cents AND ${isReceivedPix(Prisma.sql`one`)}
      ORDER BY nsu LIMIT ${maxPossibleOriginals + 1}
    ) pix
    WHERE (l.counterparty IS NOT NULL OR l.counterparty_document IS NOT NULL)
      AND ${isUnattributed}
      AND NOT EXISTS (SELECT FROM line_decision d
        WHERE d.account_id = l.account_id AND d.nsu = l.nsu)
      AND NOT EXISTS (SELECT FROM break b
        JOIN break_history_entry e ON e.account_id = b.account_id AND e.break_id = b.id
        WHERE b.account_id = l.account_id AND b.nsu = l.nsu AND e.action = 'accept')
    ORDER BY l.nsu, pix.nsu`;
  const found = groupBy(rows, ({ debit }) => debit);
  // Those of the others that are not read could be the one.
  for (const [nsu, originals] of found)
    if (originals.length > maxPossibleOriginals)
      found.set(
        nsu,
        originals.map((one) => ({ ...one, isOfPayer: false })),
      );
  return found;
}
