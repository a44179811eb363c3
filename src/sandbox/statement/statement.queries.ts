import type { StatementLine } from '../../generated/sandbox/client.js';
import type { Queryable } from '../sandbox-database.service.js';

export interface StatementFilter {
  accountId: number;
  /** The time of reading by the bank's clock. Lines that become visible later are left out. */
  asOf: Date;
  /** Also leaves out lines created after `asOf`, for a statement that lags. */
  isPast: boolean;
  nsu: bigint | null;
  isCredit: boolean | null;
  typeNames: string[] | null;
  /** Inclusive. */
  from: Date | null;
  until: Date | null;
  includesUntil: boolean;
  endToEndId: string | null;
  /** By nsu, or by movement, the earliest first. */
  order: 'asc' | 'desc' | 'movement';
  offset: bigint;
  limit: number;
}

/** `hidesExternalId` and `hidesOriginalId` are as of the writing of the line. */
export interface StatementRow extends Omit<StatementLine, 'proof'> {
  /** With exact numbers. */
  proof: Record<string, unknown> | null;
}

/**
 * Bounds of nsu for bounds of time, so that the index on nsu leaves out lines outside the period.
 * The nsu and the time of an account's lines rise together. Only the order `commit` swaps two
 * neighbouring nsus; a margin of two covers that.
 */
const nsuBounds = {
  from: (account: string, from: string) =>
    `nsu >= (SELECT edge.nsu - 2 FROM statement_line AS edge
             WHERE edge.account_id = ${account} AND edge.created_at >= ${from}
             ORDER BY edge.created_at, edge.nsu LIMIT 1)`,
  until: (account: string, isBefore: string) =>
    `nsu <= (SELECT edge.nsu + 2 FROM statement_line AS edge
             WHERE edge.account_id = ${account} AND edge.${isBefore}
             ORDER BY edge.created_at DESC, edge.nsu DESC LIMIT 1)`,
};

const orders = { asc: 'nsu ASC', desc: 'nsu DESC', movement: 'movement_id' } as const;

/**
 * A page of the account's lines. The SQL contains only the requested conditions. The inner query
 * finds the nsu of the page in an index, so that skipped lines are never read.
 */
export function listStatementRows(
  database: Queryable,
  filter: StatementFilter,
): Promise<StatementRow[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const account = bind(filter.accountId);
  const conditions = [`account_id = ${account}`];
  const asOf = bind(filter.asOf);
  conditions.push(`(visible_at IS NULL OR visible_at <= ${asOf})`);
  if (filter.isPast) conditions.push(`created_at <= ${asOf}`);
  if (filter.nsu !== null) conditions.push(`nsu = ${bind(filter.nsu)}`);
  if (filter.isCredit !== null) conditions.push(`change_cents ${filter.isCredit ? '>' : '<'} 0`);
  if (filter.typeNames) conditions.push(`shown_type_name = ANY(${bind(filter.typeNames)})`);
  if (filter.from) {
    const from = bind(filter.from);
    conditions.push(`created_at >= ${from}`, nsuBounds.from(account, from));
  }
  if (filter.until) {
    const isBefore = `created_at ${filter.includesUntil ? '<=' : '<'} ${bind(filter.until)}`;
    conditions.push(isBefore, nsuBounds.until(account, isBefore));
  }
  if (filter.endToEndId !== null) conditions.push(`end_to_end_id = ${bind(filter.endToEndId)}`);
  const order = `ORDER BY ${orders[filter.order]}`;
  return database.query(
    `SELECT * FROM statement_line WHERE account_id = ${account} AND nsu = ANY(ARRAY(
       SELECT nsu FROM statement_line WHERE ${conditions.join(' AND ')}
       ${order} LIMIT ${bind(filter.limit)} OFFSET ${bind(filter.offset)}))
     ${order}`,
    values,
  );
}

/** The given type names that at least one line of the account has. */
export async function findUsedTypeNames(
  database: Queryable,
  accountId: number,
  typeNames: string[],
): Promise<Set<string>> {
  const rows = await database.query<{ name: string }>(
    `SELECT name FROM unnest($2::text[]) AS name WHERE EXISTS (
       SELECT FROM statement_line AS line
       WHERE line.account_id = $1 AND line.shown_type_name = name)`,
    [accountId, typeNames],
  );
  return new Set(rows.map((row) => row.name));
}
