// Reads lines with what their leaves cover, writes the outcomes of lines with their leaves, and
// reads the stored decisions from which a leaf can be computed again.
import {
  arrayColumns,
  opaqueAccountId,
  type Db,
  type SqlTx,
} from '../../platform/postgres/database.service.js';
import { Prisma, type LineOutcome, type LineOutcomeState } from '../../generated/service/client.js';
import { explainingBreakKinds } from '../decide/break-kinds.js';
import { inOrder, labelOf, type DecidedOutcome } from '../decide/line-outcomes.js';
import type { DeclaredRule } from '../decide/model.js';
import { leafOfLine, type ProvenLine } from './line-leaf.js';

/**
 * Whether a break makes its line count as in a break, even if the line is matched. Reads only the
 * columns of the break.
 */
export const explainsItsLine = Prisma.sql`state = 'open'
  AND kind = ANY (${[...explainingBreakKinds]}::text[])`;

/** What the leaf of a line (t) covers, with its erasure. */
export const provenColumns = Prisma.sql`
  t.nsu, t.bank_id, t.is_credit, t.amount_cents, t.type_name, t.correlation_id,
  t.end_to_end_id, t.external_id, t.original_end_to_end_id, t.movement_id,
  t.idempotency_key, t.bill_code, t.balance_previous_cents, t.current_balance_cents,
  t.occurred_at, t.has_one_holder, t.content_hash, t.salt,
  erasure.commitment AS "erasedCommitment"`;
export const joinedErasure = Prisma.sql`
  LEFT JOIN line_erasure erasure ON erasure.account_id = t.account_id AND erasure.nsu = t.nsu`;

export interface OutcomeLine extends ProvenLine {
  /** Null for a line without an outcome. */
  version: number | null;
  leafHash: Uint8Array | null;
}

/** These lines with the version and the leaf of their stored outcomes. */
export async function listOutcomeLines(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<OutcomeLine[]> {
  return db.$queryRaw<OutcomeLine[]>`
    SELECT ${provenColumns}, o.version, o.leaf_hash
    FROM unnest(${[...nsus]}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) t
    LEFT JOIN line_outcome o ON o.account_id = t.account_id AND o.nsu = t.nsu
    ${joinedErasure}`;
}

/** Whether the stored leaf is that of the stored version with this outcome. */
export function hasLeafOf(accountId: number, line: OutcomeLine, outcome: DecidedOutcome): boolean {
  if (line.version === null || line.leafHash === null) return false;
  const stored = Buffer.from(line.leafHash).toString('hex');
  return leafOfLine(accountId, line, line.version, outcome) === stored;
}

interface NextOutcome {
  nsu: bigint;
  version: number;
  state: LineOutcomeState;
  label: string | null;
  /** In hexadecimal. */
  leaf: string;
}

/** The outcomes that differ from the stored ones, each as the next version of its line. */
export function changedOutcomes(
  accountId: number,
  lines: readonly OutcomeLine[],
  outcomes: ReadonlyMap<bigint, DecidedOutcome>,
): NextOutcome[] {
  return lines.flatMap((line) => {
    const outcome = outcomes.get(line.nsu);
    if (!outcome || hasLeafOf(accountId, line, outcome)) return [];
    const version = (line.version ?? 0) + 1;
    const leaf = leafOfLine(accountId, line, version, outcome);
    return [{ nsu: line.nsu, version, state: outcome.state, label: labelOf(outcome), leaf }];
  });
}

const nextVersion = Prisma.sql`
  ON CONFLICT (account_id, nsu) DO UPDATE
  SET version = EXCLUDED.version, state = EXCLUDED.state, label = EXCLUDED.label,
      leaf_hash = EXCLUDED.leaf_hash, sequence = EXCLUDED.sequence`;

/**
 * Stores the next versions of outcomes. The caller holds the account's reconciliation lock, so that
 * sequences follow the commits. Returns the new states.
 */
export async function writeLineOutcomes(
  tx: SqlTx,
  accountId: number,
  changed: readonly NextOutcome[],
): Promise<LineOutcomeState[]> {
  if (changed.length === 0) return [];
  const column = arrayColumns(changed);
  // A row that may be there already costs a third more.
  const areNew = changed.every(({ version }) => version === 1);
  await tx.$executeRaw`
    WITH change AS (
      UPDATE reconciliation_state SET outcome_sequence = outcome_sequence + 1
      WHERE account_id = ${opaqueAccountId(accountId)} RETURNING outcome_sequence
    )
    INSERT INTO line_outcome (account_id, nsu, version, state, label, leaf_hash, sequence)
    SELECT ${accountId}, o.nsu, o.version, o.state, o.label, decode(o.leaf, 'hex'),
           change.outcome_sequence
    FROM change, unnest(
      ${column(({ nsu }) => nsu, 'bigint')},
      ${column(({ version }) => version, 'int')},
      ${column(({ state }) => state, 'line_outcome_state')},
      ${column(({ label }) => label, 'text')},
      ${column(({ leaf }) => leaf, 'text')}) AS o(nsu, version, state, label, leaf)
    ${areNew ? Prisma.empty : nextVersion}`;
  return changed.map(({ state }) => state);
}

interface StoredPayment {
  expectedPaymentId: string;
  amountCents: string;
  role: string;
  rule: string;
  ruleId: string | null;
  ruleVersion: number | null;
}

interface StoredBreak {
  kind: string;
  amountCents: string | null;
  expectedPaymentId: string | null;
}

interface StoredDecision {
  nsu: bigint;
  state: LineOutcomeState;
  label: LineOutcome['label'];
  breaks: StoredBreak[];
  category: string | null;
  rule: string | null;
  ruleId: string | null;
  ruleVersion: number | null;
  payments: StoredPayment[];
}

/** What the stored matches, classifications and open breaks of these lines say, with the label. */
export async function listStoredDecisions(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<(DecidedOutcome & { nsu: bigint; label: string | null })[]> {
  const rows = await db.$queryRaw<StoredDecision[]>`
    SELECT o.nsu, o.state, o.label, c.category::text AS category, c.rule, c.rule_id,
           c.rule_version, b.breaks, m.payments
    FROM line_outcome o
    LEFT JOIN classification c ON c.account_id = o.account_id AND c.nsu = o.nsu
    CROSS JOIN LATERAL (
      SELECT COALESCE(jsonb_agg(jsonb_build_object(
        'kind', kind, 'amountCents', amount_cents::text,
        'expectedPaymentId', expected_payment_id)), '[]') AS breaks
      FROM break
      WHERE account_id = o.account_id AND nsu = o.nsu AND ${explainsItsLine}
    ) b
    CROSS JOIN LATERAL (
      SELECT COALESCE(jsonb_agg(jsonb_build_object(
        'expectedPaymentId', expected_payment_id, 'amountCents', amount_cents::text, 'role', role,
        'rule', rule, 'ruleId', rule_id, 'ruleVersion', rule_version)), '[]') AS payments
      FROM match
      WHERE account_id = o.account_id AND nsu = o.nsu AND unlinked_at IS NULL
    ) m
    WHERE o.account_id = ${accountId} AND o.nsu = ANY (${[...nsus]}::bigint[])`;
  return rows.map(({ nsu, state, label, breaks, category, rule, payments, ...row }) => ({
    ...{ nsu, label },
    ...inOrder({
      state,
      breaks: breaks.map(({ amountCents, ...one }) => ({
        ...one,
        amountCents: amountCents === null ? null : BigInt(amountCents),
      })),
      classification:
        category === null || rule === null ? null : { category, rule, declared: ruleOf(row) },
      payments: payments.map((payment) => ({
        ...payment,
        amountCents: BigInt(payment.amountCents),
        declared: ruleOf(payment),
      })),
    }),
  }));
}

function ruleOf(row: Pick<StoredPayment, 'ruleId' | 'ruleVersion'>): DeclaredRule | null {
  const { ruleId, ruleVersion: version } = row;
  return ruleId === null || version === null ? null : { ruleId, version };
}
