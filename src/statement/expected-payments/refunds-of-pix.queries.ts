// Reads the facts from which follows what was refunded of a received Pix. Each look-up goes by an
// index, so its cost follows the refunds of the Pix and not the history.
import {
  opaqueAccountId,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { lineReferenceKinds } from './references.js';
import { maxPossibleOriginals, onlyOriginal, type PossibleOriginal } from './refunds-by-payer.js';
import {
  findPossibleOriginals,
  isStanding,
  unattributedDebits,
} from './refunds-by-payer.queries.js';
import {
  comparePixLines,
  netCentsOf,
  refundsOfPix,
  type OwnRefund,
  type PixLine,
  type RefundFacts,
} from './refunds-of-pix.js';

/** A refund that we requested, with its operation. */
export interface StoredOwnRefund extends OwnRefund {
  id: string;
  operationState: string;
}

export type StoredRefundFacts = RefundFacts<PixLine, StoredOwnRefund>;

const pixLineColumns = Prisma.sql`line.nsu, line.is_credit, line.amount_cents, line.type_name,
  line.occurred_at, line.idempotency_key, line.movement_id, line.end_to_end_id,
  COALESCE(line.original_end_to_end_id, (
    SELECT value FROM reported_reference reported
    WHERE reported.account_id = line.account_id AND reported.nsu = line.nsu
      AND reported.kind = 'original_end_to_end_id')) AS original_end_to_end_id`;

export interface PixRefunds extends StoredRefundFacts {
  /** The statement shows a refund, perhaps of this Pix, that nothing ties to a Pix. */
  hasUnattributed: boolean;
}

/** The facts of a Pix. Whoever writes by them holds the lock of its line. */
export async function readRefundFacts(
  db: Reader,
  accountId: number,
  pix: PixLine,
): Promise<PixRefunds> {
  const unattributed = await listUnattributedDebits(db, accountId, [pix.nsu]);
  const facts = await readNamedFacts(db, accountId, pix);
  if (unattributed.length === 0) return { ...facts, hasUnattributed: false };
  const ties = await tieByPayer(db, accountId, facts, unattributed);
  const tied = unattributed.filter(({ nsu }) => ties.get(nsu) === pix.nsu);
  const open = unattributed.filter(({ nsu }) => !ties.has(nsu));
  const lines = [...open, ...(await listRelatedCredits(db, accountId, open))];
  // A refund that was reversed is of none.
  const { debits } = refundsOfPix({ pix, lines, own: [], links: open });
  const others = [...tied, ...(await listRelatedCredits(db, accountId, tied))];
  return { ...withLinks(facts, tied, others), hasUnattributed: netCentsOf(debits) > 0n };
}

const withLinks = (
  facts: StoredRefundFacts,
  debits: readonly PixLine[],
  lines: readonly PixLine[] = debits,
): StoredRefundFacts => {
  const known = new Set(facts.lines.map(({ nsu }) => nsu));
  return {
    ...facts,
    links: [...facts.links, ...debits],
    lines: [...facts.lines, ...lines.filter(({ nsu }) => !known.has(nsu))],
  };
};

/** More Pix and refunds of payers than this tie nothing. */
const maxTied = 100;

/**
 * The Pix of each of these debits, and of those that compete with them, where the payer says which:
 * in the order of time, so that no later debit changes what an earlier one refunds.
 */
async function tieByPayer(
  db: Reader,
  accountId: number,
  known: StoredRefundFacts,
  unattributed: readonly PixLine[],
): Promise<Map<bigint, bigint>> {
  const debits = new Map(unattributed.map((line) => [line.nsu, line]));
  const facts = new Map([[known.pix.nsu, known]]);
  const credits = new Map([[known.pix.nsu, known.pix]]);
  const originals = new Map<bigint, PossibleOriginal[]>();
  for (let fresh: readonly PixLine[] = unattributed; fresh.length > 0;) {
    if (debits.size + credits.size > maxTied) return new Map();
    const found = await findPossibleOriginals(db, accountId, nsusOf(fresh));
    for (const [nsu, ofDebit] of found) originals.set(nsu, ofDebit);
    const unknown = [...found.values()]
      .filter(({ length }) => length <= maxPossibleOriginals)
      .flatMap((ofDebit) => ofDebit.map(({ nsu }) => nsu))
      .filter((nsu) => !credits.has(nsu));
    const pixes = await listLinesOf(
      db,
      accountId,
      Prisma.sql`SELECT unnest(${opaqueArray(unknown, 'bigint')}) AS nsu`,
    );
    for (const one of pixes) credits.set(one.nsu, one);
    const competing = await listUnattributedDebits(db, accountId, nsusOf(pixes));
    fresh = competing.filter(({ nsu }) => !debits.has(nsu));
    for (const line of fresh) debits.set(line.nsu, line);
  }
  for (const one of credits.values())
    if (!facts.has(one.nsu)) facts.set(one.nsu, await readNamedFacts(db, accountId, one));
  const ties = new Map<bigint, bigint>();
  for (const debit of [...debits.values()].sort(comparePixLines)) {
    const possible = (originals.get(debit.nsu) ?? []).flatMap((one) => {
      const ofPix = facts.get(one.nsu);
      if (!ofPix) return [];
      // A webhook may have said of which Pix it is: that raises what can be refunded of none.
      const lines = ofPix.lines.filter(({ nsu }) => nsu !== debit.nsu);
      const refunds = refundsOfPix({ ...ofPix, lines });
      return [{ ...one, amountCents: ofPix.pix.amountCents, refunds }];
    });
    const only = onlyOriginal(debit, possible);
    const ofOnly = only === null ? undefined : facts.get(only);
    const reported = debit.originalEndToEndId;
    if (only === null || !ofOnly || (reported ?? ofOnly.pix.endToEndId) !== ofOnly.pix.endToEndId)
      continue;
    ties.set(debit.nsu, only);
    facts.set(only, withLinks(ofOnly, [debit]));
  }
  return ties;
}

const nsusOf = (lines: readonly PixLine[]): bigint[] => lines.map(({ nsu }) => nsu);

/** The debits that may refund one of these Pix, and that nothing but their payer ties to one. */
const listUnattributedDebits = (db: Reader, accountId: number, nsus: readonly bigint[]) =>
  nsus.length === 0
    ? []
    : db.$queryRaw<PixLine[]>`
        SELECT DISTINCT ON (line.nsu) ${pixLineColumns}
        FROM unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
        CROSS JOIN LATERAL (
          SELECT * FROM statement_line
          WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
        ) pix
        CROSS JOIN LATERAL (${unattributedDebits(accountId, Prisma.sql`pix`)}) line
        WHERE NOT EXISTS (SELECT FROM match m
          JOIN refund r ON r.account_id = m.account_id
            AND r.expected_payment_id = m.expected_payment_id
          WHERE m.account_id = line.account_id AND m.nsu = line.nsu AND m.unlinked_at IS NULL)`;

/** Without the debits that only their payer ties to the Pix. */
async function readNamedFacts(
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
    Prisma.sql`
      SELECT nsu FROM reported_reference
      WHERE account_id = ${opaqueAccountId(accountId)} AND kind = 'original_end_to_end_id'
        AND value = ${endToEndId}`,
  ];
  return listLinesOf(db, accountId, Prisma.join(found, ' UNION '));
}

/** Credits that may reverse these debits, and credits that these debits name as their original. */
async function listRelatedCredits(
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
