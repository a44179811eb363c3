// SQL that finds what happened before with a counterparty. It follows indexes, and examines a
// bounded number of rows, whatever the history.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma, type LineOutcomeState } from '../../generated/service/client.js';

/** How the lines of a counterparty are found: by its CPF or CNPJ, or the account that was paid. */
export type PartyKey = { document: string } | { account: string };

/** Of lines by document, of payments by document, and of the lines of a payment, so many. */
const examinedLimit = 20;
const shownLimit = 10;

export interface EarlierLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  occurredAt: Date;
  /** A line without an outcome is `pending`. */
  state: LineOutcomeState;
  /** What the line pays, and the rule that says so. */
  expectedPaymentId: string | null;
  rule: string | null;
  /** Its last break. */
  breakId: string | null;
  kind: string | null;
  breakState: string | null;
  resolution: string | null;
}

function linesOf(accountId: number, key: PartyKey): Prisma.Sql {
  const lines = (condition: Prisma.Sql) => Prisma.sql`(
    SELECT nsu FROM statement_line WHERE account_id = ${accountId} AND ${condition}
    ORDER BY occurred_at DESC LIMIT ${examinedLimit})`;
  if ('account' in key)
    return lines(Prisma.sql`counterparty = ${key.account}
      AND original_end_to_end_id IS NULL AND is_credit = false`);
  return Prisma.sql`${lines(Prisma.sql`counterparty_document = ${key.document}`)}
    UNION (
      SELECT m.nsu FROM ${paymentsOf(accountId, key.document)} e
      CROSS JOIN LATERAL (
        SELECT nsu FROM match
        WHERE account_id = ${accountId} AND expected_payment_id = e.id AND unlinked_at IS NULL
        ORDER BY nsu DESC LIMIT ${examinedLimit}
      ) m)`;
}

const paymentsOf = (accountId: number, document: string) => Prisma.sql`(
  SELECT id FROM expected_payment
  WHERE account_id = ${accountId} AND counterparty_document = ${document}
  ORDER BY created_at DESC LIMIT ${examinedLimit})`;

/** The last lines of a counterparty but one, the newest first. */
export async function listEarlierLines(
  db: Db,
  accountId: number,
  key: PartyKey,
  exceptNsu: bigint | null,
): Promise<EarlierLine[]> {
  return db.$queryRaw<EarlierLine[]>`
    SELECT t.nsu, t.is_credit, t.amount_cents, t.occurred_at,
           COALESCE(o.state::text, 'pending') AS state, m.expected_payment_id, m.rule,
           b.id AS break_id, b.kind, b.state::text AS break_state, b.resolution
    FROM (
      SELECT nsu FROM (${linesOf(accountId, key)}) found
      WHERE nsu IS DISTINCT FROM ${exceptNsu}::bigint ORDER BY nsu DESC LIMIT ${shownLimit}
    ) earlier
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${accountId} AND nsu = earlier.nsu OFFSET 0
    ) t
    LEFT JOIN LATERAL (
      SELECT state FROM line_outcome
      WHERE account_id = ${accountId} AND nsu = earlier.nsu OFFSET 0
    ) o ON true
    LEFT JOIN LATERAL (
      SELECT expected_payment_id, rule FROM match
      WHERE account_id = ${accountId} AND nsu = earlier.nsu AND unlinked_at IS NULL
      ORDER BY id LIMIT 1
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT id, kind, state, resolution FROM break
      WHERE account_id = ${accountId} AND nsu = earlier.nsu
      ORDER BY id DESC LIMIT 1
    ) b ON true
    ORDER BY t.nsu DESC`;
}

export interface EarlierBreak {
  id: string;
  kind: string;
  state: string;
  amountCents: bigint | null;
  openedAt: Date;
  resolution: string | null;
}

/** The last breaks of a counterparty's expected payments without a line, but one. */
export async function listEarlierMissing(
  db: Db,
  accountId: number,
  document: string,
  exceptId: string,
): Promise<EarlierBreak[]> {
  return db.$queryRaw<EarlierBreak[]>`
    SELECT b.id, b.kind, b.state::text AS state, b.amount_cents, b.opened_at, b.resolution
    FROM ${paymentsOf(accountId, document)} e
    CROSS JOIN LATERAL (
      SELECT * FROM break
      WHERE account_id = ${accountId} AND expected_payment_id = e.id OFFSET 0
    ) b
    WHERE b.nsu IS NULL AND b.id <> ${exceptId}::uuid
    ORDER BY b.id DESC LIMIT ${shownLimit}`;
}
