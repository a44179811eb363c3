// The Merkle tree over what the bank showed of the lines of a span. Unlike the tree with outcomes
// it stays the same for ever, so that each of its leaves can be written again at any time.
import type { Db } from '../../platform/postgres/database.service.js';
import { leafHashOf, MerkleTree } from '../../platform/merkle-tree.js';
import { statementLeafText, type ProvenLine } from '../../reconciliation/load/line-leaf.js';
import type { LineSpan } from './day-lines.queries.js';

const pageLines = 2_000;

export type StatementSpan = Omit<LineSpan, 'outcomeSequence'>;

/** No line of the span is below `firstNsu` or above `lastNsu`; null if the span has no line. */
export interface NsuBounds {
  firstNsu: bigint | null;
  lastNsu: bigint | null;
}

/** A line with the text that its leaf is the hash of. */
export interface StatementLeaf {
  nsu: bigint;
  text: string;
}

/** The leaves of the span in nsu order, page by page. */
export async function* readStatementLeaves(
  db: Db,
  span: StatementSpan,
  { firstNsu, lastNsu }: NsuBounds,
): AsyncGenerator<StatementLeaf[]> {
  if (firstNsu === null || lastNsu === null) return;
  for (let afterNsu: bigint | undefined = firstNsu - 1n; afterNsu !== undefined;) {
    const lines: ProvenLine[] = await listLines(db, span, { afterNsu, untilNsu: lastNsu });
    yield lines.map((line) => ({
      nsu: line.nsu,
      text: statementLeafText(span.accountId, line),
    }));
    afterNsu = lines.length === pageLines ? lines.at(-1)?.nsu : undefined;
  }
}

/** In hexadecimal. */
export async function readStatementRoot(
  db: Db,
  span: StatementSpan,
  bounds: NsuBounds,
): Promise<string> {
  const tree = new MerkleTree();
  for await (const leaves of readStatementLeaves(db, span, bounds))
    for (const { text } of leaves) tree.add(leafHashOf(text));
  return tree.root().toString('hex');
}

async function listLines(
  db: Db,
  { accountId, from, until, lastArrival }: StatementSpan,
  { afterNsu, untilNsu }: { afterNsu: bigint; untilNsu: bigint },
): Promise<ProvenLine[]> {
  return db.$queryRaw<ProvenLine[]>`
    SELECT t.nsu, t.bank_id, t.is_credit, t.amount_cents, t.type_name, t.correlation_id,
           t.end_to_end_id, t.external_id, t.original_end_to_end_id, t.movement_id,
           t.idempotency_key, t.bill_code, t.balance_previous_cents, t.current_balance_cents,
           t.occurred_at, t.has_one_holder, t.content_hash, t.salt,
           erasure.commitment AS "erasedCommitment"
    FROM (
      -- By nsu, whatever the planner expects of the times.
      SELECT * FROM statement_line
      WHERE account_id = ${accountId} AND nsu > ${afterNsu} AND nsu <= ${untilNsu}
      ORDER BY nsu OFFSET 0
    ) t
    LEFT JOIN line_erasure erasure ON erasure.account_id = t.account_id AND erasure.nsu = t.nsu
    WHERE t.arrival <= ${lastArrival} AND t.occurred_at < ${until}
      AND (${from}::timestamptz IS NULL OR t.occurred_at >= ${from}::timestamptz)
    ORDER BY t.nsu LIMIT ${pageLines}`;
}
