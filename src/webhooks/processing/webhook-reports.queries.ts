// Stores what webhooks say where their line does not: who paid, or was paid, and the ids that tie
// the line to a payment. Erases the former.
import type { Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type WebhookEvent } from '../../generated/service/client.js';
import { lineReferenceKinds } from '../../statement/expected-payments/references.js';
import { recordLineTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { readReportedParty } from './webhook-counterparty.js';
import { readReportedReferences } from './webhook-references.js';

/** The bytes of a thousand webhooks are one result. The bank's have about two thousand bytes. */
const maxBytes = 16_384;

/** A processed webhook that may say what its line leaves open. */
interface Report extends Pick<WebhookEvent, 'eventType'> {
  referenceKind: 'nsu' | 'end_to_end_id';
  reference: string;
  /** Whether the line leaves open who paid, or is missing. An erased line leaves nothing open. */
  isUnnamed: boolean;
  /** The bytes, in base64. */
  body: string;
}

/** The lines with the reference of a processed webhook. */
const linesOf = (accountId: number) => Prisma.sql`(
  SELECT * FROM statement_line t
  WHERE reference_kind = 'nsu' AND t.account_id = ${accountId}
    AND t.nsu = CASE WHEN reference_kind = 'nsu' THEN reference::bigint END
  UNION ALL
  SELECT * FROM statement_line t
  WHERE reference_kind = 'end_to_end_id' AND t.account_id = ${accountId}
    AND t.end_to_end_id = reference)`;

/**
 * Of processed webhooks (processed), those whose line leaves open who paid, or which payment it is.
 * JSON, because a row of arrays is all that the statement around it returns.
 */
export const reportsOf = (accountId: number) => Prisma.sql`
  SELECT jsonb_build_object('eventType', event_type, 'referenceKind', reference_kind,
                            'reference', reference, 'isUnnamed', is_unnamed,
                            'body', encode(body, 'base64'))::text
  FROM processed
  CROSS JOIN LATERAL (
    SELECT NOT EXISTS (SELECT FROM ${linesOf(accountId)} t WHERE ${isNamed}) AS is_unnamed,
           EXISTS (SELECT FROM ${linesOf(accountId)} t WHERE ${isWithoutIds}) AS is_without_ids
  ) line
  WHERE octet_length(body) <= ${maxBytes} AND reference_kind IN ('nsu', 'end_to_end_id')
    AND (is_unnamed OR is_without_ids)`;

/** Whether no id of the line says which payment it is. An unexpected Pix has none. */
const isWithoutIds = Prisma.sql`CASE WHEN t.is_credit
  THEN t.correlation_id IS NULL AND event_type LIKE 'CHARGE_%'
  ELSE t.idempotency_key IS NULL AND t.original_end_to_end_id IS NULL END`;

/** Stores who paid, and the ids that the lines lack. */
export async function recordReports(
  tx: Tx,
  accountId: number,
  texts: readonly string[],
): Promise<void> {
  const reports = texts.map((text) => JSON.parse(text) as Report);
  await recordReportedParties(
    tx,
    accountId,
    reports.filter(({ isUnnamed }) => isUnnamed),
  );
  await recordReportedReferences(tx, accountId, reports);
}

/** Each id on a line of its own column, or of the Pix that it refunds. */
const ownIds = [
  ...lineReferenceKinds,
  { kind: 'original_end_to_end_id', column: 'original_end_to_end_id' },
].map(
  ({ kind, column }) =>
    Prisma.sql`WHEN ${Prisma.raw(`'${kind}'`)} THEN t.${Prisma.raw(column)}::text`,
);

/**
 * Stores the ids of the one line of the reported direction and amount, where it lacks them. The
 * first report stays. What the line means is decided again.
 */
async function recordReportedReferences(
  tx: Tx,
  accountId: number,
  reports: readonly Report[],
): Promise<void> {
  const rows = reports.flatMap(({ eventType, referenceKind, reference, body }) => {
    const reported = readReportedReferences(eventType, Buffer.from(body, 'base64'));
    if (!reported) return [];
    const { references, isCredit, amountCents } = reported;
    const cents = amountCents.toString();
    return references.map((one) => ({
      ...{ referenceKind, reference, isCredit, cents, kind: one.kind, value: one.value },
    }));
  });
  if (rows.length === 0) return;
  const recorded = await tx.$queryRaw<{ nsu: bigint }[]>`
    INSERT INTO reported_reference (account_id, nsu, kind, value)
    SELECT ${accountId}, line.nsu, r.kind, r.value
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      "referenceKind" text, reference text, "isCredit" boolean, cents text, kind text, value text)
    CROSS JOIN LATERAL (SELECT r."referenceKind" AS reference_kind) named
    CROSS JOIN LATERAL (
      SELECT max(t.nsu) AS nsu FROM ${linesOf(accountId)} t
      WHERE t.is_credit = r."isCredit" AND t.amount_cents = r.cents::bigint
        AND CASE r.kind ${Prisma.join(ownIds, ' ')} END IS NULL
      HAVING count(*) = 1
    ) line
    ORDER BY line.nsu, r.kind
    ON CONFLICT (account_id, nsu, kind) DO NOTHING
    RETURNING nsu`;
  await recordLineTasks(tx, accountId, [...new Set(recorded.map(({ nsu }) => nsu))]);
}

const isNamed = Prisma.sql`(t.salt IS NULL
  OR (t.counterparty_name IS NOT NULL AND t.counterparty_document IS NOT NULL))`;

/** Stores what the webhooks say. The first one with a reference stays. */
async function recordReportedParties(
  tx: Tx,
  accountId: number,
  reports: readonly Report[],
): Promise<void> {
  const rows = reports.flatMap(({ eventType, referenceKind, reference, body }) => {
    const party = readReportedParty(eventType, Buffer.from(body, 'base64'));
    return party ? [{ ...party, referenceKind, reference }] : [];
  });
  if (rows.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO webhook_counterparty (account_id, reference_kind, reference, is_credit, name,
                                      tax_id, ispb, branch, account_number, message)
    SELECT ${accountId}, "referenceKind", reference, "isCredit", name, "taxId", ispb, branch,
           account, message
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      "referenceKind" text, reference text, "isCredit" boolean, name text, "taxId" text, ispb text,
      branch text, account text, message text)
    ON CONFLICT (account_id, reference_kind, reference, is_credit) DO NOTHING`;
}

/**
 * Keeps of which Pix the refunds are that only the payer ties to it, before the payer of the Pix or
 * of a refund (the line) is erased.
 */
export async function keepOriginals(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reported_reference (account_id, nsu, kind, value)
    SELECT DISTINCT debit.account_id, debit.nsu, 'original_end_to_end_id', pix.end_to_end_id
    FROM match m
    JOIN statement_line debit ON debit.account_id = m.account_id AND debit.nsu = m.nsu
    JOIN statement_line pix ON pix.account_id = m.account_id
      AND pix.nsu = (m.evidence ->> 'originalNsu')::bigint
    WHERE m.account_id = ${accountId} AND m.rule = 'reversal' AND m.unlinked_at IS NULL
      AND NOT debit.is_credit AND debit.original_end_to_end_id IS NULL
      AND (debit.nsu = ${nsu} OR m.expected_payment_id IN (
        SELECT expected_payment_id FROM match
        WHERE account_id = ${accountId} AND nsu = ${nsu} AND unlinked_at IS NULL)
        AND pix.nsu = ${nsu})
    ON CONFLICT DO NOTHING`;
}

/**
 * Erases what webhooks say about a line, and the bytes of those that are processed. The bytes of
 * others are evidence that is not read yet: they end with their retention.
 */
export async function eraseReportedParties(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  const { endToEndId, correlationId } = await tx.statementLine.findUniqueOrThrow({
    where: { accountId_nsu: { accountId, nsu } },
  });
  const references = [
    { referenceKind: 'nsu', reference: nsu.toString() },
    { referenceKind: 'end_to_end_id', reference: endToEndId },
    { referenceKind: 'correlation_id', reference: correlationId },
  ].flatMap(({ referenceKind, reference }) => (reference ? [{ referenceKind, reference }] : []));
  const where = { accountId, OR: references };
  await tx.webhookCounterparty.deleteMany({ where });
  await tx.webhookEvent.updateMany({
    where: { ...where, state: 'processed', body: { not: null } },
    data: { body: null },
  });
}
