// Reads what people decided about lines: links, and pairs that they separated.
import {
  opaqueAccountId,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { ManualLink, SeparatedPair } from '../decide/model.js';

export type SelectedLines = ReadonlySet<bigint> | 'all';
export const isNone = (nsus: SelectedLines): boolean => nsus !== 'all' && nsus.size === 0;

/** A table whose rows (alias) are of these lines, looked up one by one in its index. */
export function selectedLines(
  table: 'line_decision' | 'match' | 'classification',
  alias: string,
  accountId: number,
  nsus: SelectedLines,
  condition = Prisma.empty,
): Prisma.Sql {
  const [name, as] = [Prisma.raw(table), Prisma.raw(alias)];
  const ofAccount = Prisma.sql`
    SELECT * FROM ${name} WHERE account_id = ${opaqueAccountId(accountId)} ${condition}`;
  if (nsus === 'all') return Prisma.sql`(${ofAccount}) ${as}`;
  return Prisma.sql`unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
    CROSS JOIN LATERAL (${ofAccount} AND nsu = wanted.nsu OFFSET 0) ${as}`;
}

interface LinkRow {
  nsu: bigint;
  actor: string;
  reason: string;
  allocations: { expectedPaymentId: string; cents: string }[];
  refundOf: { originalNsu: string; cents: string; expectedPaymentId: string | null }[];
}

/** The last link of each line that no person has undone, whether it is in effect or not. */
export async function listManualLinks(
  db: Reader,
  accountId: number,
  nsus: SelectedLines,
): Promise<ManualLink[]> {
  if (isNone(nsus)) return [];
  const rows = await db.$queryRaw<LinkRow[]>`
    SELECT nsu, actor, reason, allocations, refunded.parts AS "refundOf" FROM (
      SELECT DISTINCT ON (d.nsu) d.* FROM ${selectedLines('line_decision', 'd', accountId, nsus)}
      ORDER BY d.nsu, d.sequence DESC
    ) last
    CROSS JOIN LATERAL (
      SELECT COALESCE(json_agg(json_build_object(
               'originalNsu', original_nsu::text, 'cents', amount_cents::text,
               'expectedPaymentId', expected_payment_id) ORDER BY ordinal), '[]') AS parts
      FROM linked_original
      WHERE account_id = last.account_id AND sequence = last.sequence
    ) refunded
    WHERE action = 'link' ORDER BY nsu`;
  return rows.map(({ nsu, actor, reason, allocations, refundOf }) => ({
    nsu,
    decidedBy: { actor, reason },
    allocations: allocations.map(({ expectedPaymentId, cents }) => ({
      expectedPaymentId,
      amountCents: BigInt(cents),
    })),
    refundOf: refundOf.map(({ originalNsu, cents, expectedPaymentId }) => ({
      originalNsu: BigInt(originalNsu),
      amountCents: BigInt(cents),
      expectedPaymentId,
    })),
  }));
}

export async function listSeparatedPairs(
  db: Reader,
  accountId: number,
  nsus: SelectedLines,
): Promise<SeparatedPair[]> {
  if (isNone(nsus)) return [];
  return db.$queryRaw`
    SELECT DISTINCT d.nsu, pair ->> 'expectedPaymentId' AS "expectedPaymentId"
    FROM ${selectedLines('line_decision', 'd', accountId, nsus)}
    CROSS JOIN LATERAL jsonb_array_elements(d.allocations) pair
    WHERE d.action = 'unlink'`;
}
