// Reads what says the coding of lines: decisions of people, rules, and matched payments.
import type { z } from 'zod';
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { storedParts } from '../../statement/expected-payments/payment-parts.js';
import type { CodingFacts, MatchedPart } from '../decide/line-coding.js';

type StoredPart = Omit<MatchedPart, 'amountCents' | 'feeCents' | 'withheld'> & {
  amountCents: string;
  feeCents: string;
  withheld: z.input<typeof storedParts>;
};

const ruleCoding = (alias: string) =>
  Prisma.raw(`(SELECT definition -> 'then' -> 'coding' FROM rule_version r
    WHERE r.account_id = ${alias}.account_id AND r.rule_id = ${alias}.rule_id
      AND r.version = ${alias}.rule_version)`);

/**
 * The coding of the last decision about the line that has one, unless its break was reopened or its
 * link ended since. A person may have linked the line from the break of an expected payment.
 */
const manualCoding = (accountId: number) => Prisma.sql`
  SELECT h.detail -> 'coding' AS coding FROM (
    SELECT id FROM break
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu AND state = 'resolved'
    UNION
    SELECT b.id FROM match m
    JOIN break b ON b.account_id = m.account_id AND b.state = 'resolved'
      AND b.expected_payment_id = m.expected_payment_id
    WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.nsu = wanted.nsu
      AND m.rule = 'manual' AND m.unlinked_at IS NULL
  ) about
  JOIN break_history_entry h ON h.account_id = ${opaqueAccountId(accountId)}
    AND h.break_id = about.id
  WHERE (h.action IN ('reopen', 'unlink') OR jsonb_exists(h.detail, 'coding'))
    AND COALESCE(h.detail ->> 'nsu', wanted.nsu::text) = wanted.nsu::text
  ORDER BY h.sequence DESC LIMIT 1`;

/** Of these lines, by nsu. */
export async function listCodingFacts(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<Map<bigint, CodingFacts>> {
  if (nsus.length === 0) return new Map();
  const rows = await db.$queryRaw<(Omit<CodingFacts, 'parts'> & { parts: StoredPart[] })[]>`
    SELECT wanted.nsu, c.classification, c.rule, manual.coding AS manual, matched.parts
    FROM unnest(${[...nsus]}::bigint[]) AS wanted(nsu)
    LEFT JOIN LATERAL (
      SELECT c.category::text AS classification, ${ruleCoding('c')} AS rule
      FROM classification c
      WHERE c.account_id = ${opaqueAccountId(accountId)} AND c.nsu = wanted.nsu OFFSET 0
    ) c ON true
    CROSS JOIN LATERAL (
      SELECT COALESCE(jsonb_agg(jsonb_build_object(
        'amountCents', m.amount_cents::text, 'role', m.role, 'paymentKind', e.kind,
        'feeCents', COALESCE(m.evidence -> 'fee' ->> 'cents', '0'), 'rule', ${ruleCoding('m')},
        'withheld', CASE WHEN m.role = 'payment'
          AND abs(m.amount_cents - e.amount_cents) <= e.tolerance_cents THEN e.parts ELSE '[]' END,
        'payment', jsonb_build_object('category', e.category, 'costCentre', e.cost_centre,
          'project', e.project)) ORDER BY m.id), '[]') AS parts
      FROM match m
      JOIN expected_payment e ON e.account_id = m.account_id AND e.id = m.expected_payment_id
      WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.nsu = wanted.nsu
        AND m.unlinked_at IS NULL
    ) matched
    LEFT JOIN LATERAL (${manualCoding(accountId)}) manual ON true`;
  return new Map(
    rows.map(({ parts, ...row }) => [
      row.nsu,
      {
        ...row,
        parts: parts.map(({ amountCents, feeCents, withheld, ...part }) => ({
          ...part,
          ...{ amountCents: BigInt(amountCents), feeCents: BigInt(feeCents) },
          withheld: storedParts.parse(withheld),
        })),
      },
    ]),
  );
}
