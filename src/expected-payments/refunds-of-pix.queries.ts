// Reads the facts from which follows what was refunded of a received Pix. Each look-up goes by an
// index, so its cost follows the refunds of the Pix and not the history.
import { opaqueAccountId, opaqueArray } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { Reader } from '../shared-reads.queries.js';
import { lineReferenceKinds } from './references.js';
import type { OwnRefund, PixLine, RefundFacts } from './refunds-of-pix.js';

/** A refund that we requested, with its operation. */
export interface StoredOwnRefund extends OwnRefund {
  id: string;
  operationState: string;
}

export type StoredRefundFacts = RefundFacts<PixLine, StoredOwnRefund>;

const pixLineColumns = Prisma.sql`line.nsu, line.is_credit, line.amount_cents, line.type_name,
  line.occurred_at, line.idempotency_key, line.movement_id, line.end_to_end_id,
  line.original_end_to_end_id`;

/** Whether the decision that made this part of a link (part) is the last one about its line. */
export const isStanding = Prisma.sql`NOT EXISTS (
  SELECT FROM line_decision later
  WHERE later.account_id = part.account_id AND later.nsu = part.nsu
    AND later.sequence > part.sequence)`;

/** The facts of a Pix. Whoever writes by them holds the lock of its line. */
export async function readRefundFacts(
  db: Reader,
  accountId: number,
  pix: PixLine,
): Promise<StoredRefundFacts> {
  const own = await listRequestedRefunds(db, accountId, pix.nsu);
  const links = await db.$queryRaw<StoredRefundFacts['links']>`
    SELECT part.nsu, sum(part.amount_cents)::bigint AS "amountCents"
    FROM linked_original part
    WHERE part.account_id = ${opaqueAccountId(accountId)} AND part.original_nsu = ${pix.nsu}
      AND ${isStanding}
    GROUP BY part.nsu`;
  const debits = await listNamedLines(db, accountId, pix, { own, links });
  const lines = [...debits, ...(await listRelatedCredits(db, accountId, debits))];
  return { pix, own, links, lines };
}

type StoredRefund = Omit<StoredOwnRefund, 'matches'> & {
  matches: { nsu: string; amountCents: string; role: 'payment' | 'reversal' }[];
};

async function listRequestedRefunds(
  db: Reader,
  accountId: number,
  originalNsu: bigint,
): Promise<StoredOwnRefund[]> {
  const rows = await db.$queryRaw<StoredRefund[]>`
    SELECT r.id, r.expected_payment_id, r.amount_cents, o.state AS "operationState",
           r.state = 'rejected' OR e.withdrawn_at IS NOT NULL AS "isOver",
           COALESCE((
             SELECT json_agg(json_build_object('kind', kind, 'value', value))
             FROM expected_payment_reference
             WHERE account_id = r.account_id AND expected_payment_id = r.expected_payment_id
           ), '[]') AS "references",
           COALESCE((
             SELECT json_agg(json_build_object(
               'nsu', nsu::text, 'amountCents', amount_cents::text, 'role', role))
             FROM match
             WHERE account_id = r.account_id AND expected_payment_id = r.expected_payment_id
               AND unlinked_at IS NULL
           ), '[]') AS matches
    FROM refund r
    JOIN operation o ON o.account_id = r.account_id AND o.id = r.id
    JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
    WHERE r.account_id = ${opaqueAccountId(accountId)} AND r.original_nsu = ${originalNsu}`;
  return rows.map(({ matches, ...refund }) => ({
    ...refund,
    matches: matches.map(({ nsu, amountCents, role }) => ({
      ...{ nsu: BigInt(nsu), amountCents: BigInt(amountCents), role },
    })),
  }));
}

/** The lines that name the Pix or its refunds, that are matched to them or linked to the Pix. */
async function listNamedLines(
  db: Reader,
  accountId: number,
  { endToEndId }: PixLine,
  { own, links }: Pick<StoredRefundFacts, 'own' | 'links'>,
): Promise<PixLine[]> {
  const nsus = [
    ...links.map(({ nsu }) => nsu),
    ...own.flatMap(({ matches }) => matches.map(({ nsu }) => nsu)),
  ];
  const references = own.flatMap((refund) => refund.references);
  const lookUps = [
    { column: 'original_end_to_end_id', values: endToEndId === null ? [] : [endToEndId] },
    { column: 'end_to_end_id', values: endToEndId === null ? [] : [endToEndId] },
    ...lineReferenceKinds.map(({ kind, column }) => ({
      column,
      values: references.filter((one) => one.kind === kind).map(({ value }) => value),
    })),
  ].filter(({ column, values }) => column !== 'nsu' && values.length > 0);
  const namedNsus = references.filter(({ kind }) => kind === 'nsu').map(({ value }) => value);
  const found = [
    Prisma.sql`SELECT unnest(${opaqueArray([...nsus, ...namedNsus], 'bigint')}) AS nsu`,
    ...lookUps.map(({ column, values }) => linesBy(accountId, column, values)),
  ];
  return listLinesOf(db, accountId, Prisma.join(found, ' UNION '));
}

/** Credits that may reverse these debits, and credits that these debits name as their original. */
export async function listRelatedCredits(
  db: Reader,
  accountId: number,
  lines: readonly PixLine[],
): Promise<PixLine[]> {
  const ids = lines.flatMap(({ isCredit, endToEndId }) => (isCredit ? [] : (endToEndId ?? [])));
  const originals = lines.flatMap(({ originalEndToEndId }) => originalEndToEndId ?? []);
  if (ids.length + originals.length === 0) return [];
  const known = new Set(lines.map(({ nsu }) => nsu));
  const found = await listLinesOf(
    db,
    accountId,
    Prisma.sql`${linesBy(accountId, 'end_to_end_id', [...ids, ...originals])}
      UNION ${linesBy(accountId, 'original_end_to_end_id', ids)}`,
  );
  return found.filter(({ nsu, isCredit }) => isCredit && !known.has(nsu));
}

const linesBy = (accountId: number, column: string, values: readonly string[]) => Prisma.sql`
  SELECT found.nsu FROM unnest(${opaqueArray(values, 'text')}) AS key(value)
  CROSS JOIN LATERAL (
    SELECT nsu FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND ${Prisma.raw(column)} = key.value OFFSET 0
  ) found`;

const listLinesOf = (db: Reader, accountId: number, nsus: Prisma.Sql): Promise<PixLine[]> =>
  db.$queryRaw<PixLine[]>`
    SELECT ${pixLineColumns} FROM (${nsus}) wanted
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) line`;
