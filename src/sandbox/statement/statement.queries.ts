import type { Queryable } from '../sandbox-database.service.js';

export interface StatementFilter {
  accountId: number;
  nsu: bigint | null;
  isCredit: boolean | null;
  typeNames: string[] | null;
  /** Included. */
  from: Date | null;
  /** Not included. */
  until: Date | null;
  endToEndId: string | null;
  offset: bigint;
  limit: number;
}

export interface StatementRow {
  id: string;
  nsu: bigint;
  change_cents: bigint;
  balance_previous_cents: bigint;
  current_balance_cents: bigint;
  type_name: string;
  notes: string | null;
  correlation_id: string | null;
  external_id: string | null;
  proof: string | null;
  created_at: Date;
}

/** A page of the account's lines, newest first. Conditions that are not asked for are not written. */
export async function listLines(
  database: Queryable,
  filter: StatementFilter,
): Promise<StatementRow[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [`account_id = ${bind(filter.accountId)}`];
  if (filter.nsu !== null) conditions.push(`nsu = ${bind(filter.nsu)}`);
  if (filter.isCredit !== null) conditions.push(`change_cents ${filter.isCredit ? '>' : '<'} 0`);
  if (filter.typeNames) conditions.push(`type_name = ANY(${bind(filter.typeNames)})`);
  if (filter.from) conditions.push(`created_at >= ${bind(filter.from)}`);
  if (filter.until) conditions.push(`created_at < ${bind(filter.until)}`);
  if (filter.endToEndId !== null) {
    conditions.push(`end_to_end_id = ${bind(filter.endToEndId)}`);
    // The bank promises one at most: of a Pix and its reversal, which carries the same id, the Pix is meant.
    conditions.push('original_end_to_end_id IS DISTINCT FROM end_to_end_id');
  }
  return database.query<StatementRow>(
    `SELECT id, nsu, change_cents, balance_previous_cents, current_balance_cents, type_name, notes,
            correlation_id, external_id, proof::text, created_at
     FROM statement_line WHERE ${conditions.join(' AND ')}
     ORDER BY nsu DESC LIMIT ${bind(filter.limit)} OFFSET ${bind(filter.offset)}`,
    values,
  );
}
