// Reads statement lines with the facts that decisions are computed from, what their leaves cover,
// and their stored outcomes.
import {
  accountColumn,
  opaqueAccountId,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { undoesDebit } from '../../statement/expected-payments/received-pix.queries.js';
import { Prisma } from '../../generated/service/client.js';
import type { LoadOptions } from './component.queries.js';
import type { StatementLineFacts } from '../decide/model.js';
import type { OutcomeLine } from './line-leaves.queries.js';

/** A line with its stored outcome. Its version is null if it was never decided. */
export interface LoadedLine
  extends StatementLineFacts, Omit<OutcomeLine, keyof StatementLineFacts> {
  /** A person has linked or unlinked it. */
  hasDecisions: boolean;
}

/** The lines (moved) of other accounts (other) about the movement of a line, by the bank's ids. */
export const linesElsewhere = (line: Prisma.Sql): Prisma.Sql => Prisma.sql`bank_account other
  CROSS JOIN LATERAL (
    SELECT amount_cents, is_credit FROM statement_line
    WHERE account_id = other.id AND end_to_end_id = ${line}.end_to_end_id
    UNION ALL
    SELECT amount_cents, is_credit FROM statement_line
    WHERE account_id = other.id AND movement_id = ${line}.movement_id
  ) moved`;

export async function listLines(
  db: Reader,
  accountId: number,
  { freshMs }: Pick<LoadOptions, 'freshMs'>,
  nsus: readonly bigint[] | 'all',
): Promise<LoadedLine[]> {
  if (nsus.length === 0) return [];
  const lines =
    nsus === 'all'
      ? Prisma.sql`
          JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)}`
      : Prisma.sql`CROSS JOIN unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
          CROSS JOIN LATERAL (
            SELECT * FROM statement_line
            WHERE account_id = account.id AND nsu = wanted.nsu OFFSET 0
          ) t`;
  return db.$queryRaw`
    SELECT t.nsu, t.bank_id, t.is_credit, t.amount_cents, t.type_name, t.correlation_id,
           t.end_to_end_id, t.external_id, t.movement_id,
           t.idempotency_key, t.bill_code, t.counterparty, t.counterparty_document, t.notes,
           t.balance_previous_cents, t.current_balance_cents, t.occurred_at, t.recorded_at,
           t.paid_on, t.has_one_holder,
           t.content_hash, t.salt, erasure.commitment AS "erasedCommitment",
           o.version, o.leaf_hash, COALESCE(reported.ids, '[]') AS reported,
           COALESCE(t.original_end_to_end_id, reported.original) AS original_end_to_end_id,
           t.recorded_at > clock_timestamp() - ${freshMs} * interval '1 millisecond' AS "isFresh",
           EXISTS (
             SELECT FROM line_decision WHERE account_id = account.id AND nsu = t.nsu
           ) AS "hasDecisions",
           t.is_credit AND t.has_one_holder AND EXISTS (
             SELECT FROM ${linesElsewhere(Prisma.sql`t`)}
             WHERE other.id <> ${accountId} AND NOT moved.is_credit
               AND moved.amount_cents = t.amount_cents
           ) AS "isFromOwnAccount",
           ${undoesDebit(Prisma.sql`t`)} AS "undoesDebit"
    FROM ${accountColumn(accountId)}
    ${lines}
    LEFT JOIN LATERAL (
      SELECT version, leaf_hash FROM line_outcome
      WHERE account_id = account.id AND nsu = t.nsu OFFSET 0
    ) o ON true
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('kind', kind, 'value', value) ORDER BY kind)
               FILTER (WHERE kind <> 'original_end_to_end_id') AS ids,
             max(value) FILTER (WHERE kind = 'original_end_to_end_id') AS original
      FROM reported_reference WHERE account_id = account.id AND nsu = t.nsu
    ) reported ON true
    -- The salt of an erased line is gone.
    LEFT JOIN LATERAL (
      SELECT commitment FROM line_erasure
      WHERE t.salt IS NULL AND account_id = account.id AND nsu = t.nsu OFFSET 0
    ) erasure ON true`;
}
