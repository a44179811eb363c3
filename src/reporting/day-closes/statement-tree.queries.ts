// The Merkle tree over what the bank showed of the lines of a span. Unlike the tree with outcomes
// it stays the same for ever, so that each of its leaves can be written again at any time.
import type { Db } from '../../platform/postgres/database.service.js';
import { leafHashOf, MerkleTree } from '../../platform/merkle-tree.js';
import { statementLeafText, type ProvenLine } from '../../reconciliation/load/line-leaf.js';
import { joinedErasure, provenColumns } from '../../reconciliation/load/line-leaves.queries.js';
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

/** Null where a certificate states none, in the format `/1`: nothing is read. */
export async function readStatedRoot(
  db: Db,
  { statementRoot }: { statementRoot?: string | undefined },
  span: StatementSpan,
  bounds: NsuBounds,
): Promise<string | null> {
  return statementRoot === undefined ? null : readStatementRoot(db, span, bounds);
}

async function listLines(
  db: Db,
  { accountId, from, until, lastArrival }: StatementSpan,
  { afterNsu, untilNsu }: { afterNsu: bigint; untilNsu: bigint },
): Promise<ProvenLine[]> {
  return db.$queryRaw<ProvenLine[]>`
    SELECT ${provenColumns}
    FROM (
      -- By nsu, whatever the planner expects of the times.
      SELECT * FROM statement_line
      WHERE account_id = ${accountId} AND nsu > ${afterNsu} AND nsu <= ${untilNsu}
      ORDER BY nsu OFFSET 0
    ) t
    ${joinedErasure}
    WHERE t.arrival <= ${lastArrival} AND t.occurred_at < ${until}
      AND (${from}::timestamptz IS NULL OR t.occurred_at >= ${from}::timestamptz)
    ORDER BY t.nsu LIMIT ${pageLines}`;
}
