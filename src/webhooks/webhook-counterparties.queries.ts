// Stores who paid, or was paid, by webhooks whose line does not say it, and erases it.
import type { Tx } from '../database.service.js';
import { Prisma, type WebhookEvent } from '../generated/service/client.js';
import { readReportedParty } from './webhook-counterparty.js';

/** The bytes of a thousand webhooks are one result. The bank's have about two thousand bytes. */
const maxBytes = 16_384;

/** A processed webhook whose line is missing, or does not name its counterparty. */
export interface UnnamedReport extends Pick<WebhookEvent, 'eventType' | 'referenceKind'> {
  reference: string;
  /** The bytes, in base64. */
  body: string;
}

/**
 * Of processed webhooks (processed), those whose line leaves open who paid. An erased line leaves
 * nothing open. JSON, because a row of arrays is all that the statement around it returns.
 */
export const unnamedReports = (accountId: number) => Prisma.sql`
  SELECT jsonb_build_object('eventType', event_type, 'referenceKind', reference_kind,
                            'reference', reference, 'body', encode(body, 'base64'))::text
  FROM processed
  WHERE octet_length(body) <= ${maxBytes} AND CASE reference_kind
    WHEN 'nsu' THEN NOT EXISTS (
      SELECT FROM statement_line t
      WHERE t.account_id = ${accountId} AND ${isNamed}
        AND t.nsu = CASE WHEN reference_kind = 'nsu' THEN reference::bigint END)
    WHEN 'end_to_end_id' THEN NOT EXISTS (
      SELECT FROM statement_line t
      WHERE t.account_id = ${accountId} AND t.end_to_end_id = reference AND ${isNamed})
    ELSE false END`;

const isNamed = Prisma.sql`(t.salt IS NULL
  OR (t.counterparty_name IS NOT NULL AND t.counterparty_document IS NOT NULL))`;

/** Stores what the webhooks say. The first one with a reference stays. */
export async function recordReportedParties(
  tx: Tx,
  accountId: number,
  reports: readonly string[],
): Promise<void> {
  const rows = reports
    .map((text) => JSON.parse(text) as UnnamedReport)
    .flatMap(({ eventType, referenceKind, reference, body }) => {
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
 * Erases what webhooks say about a line, and the bytes of those that are processed. The bytes of
 * others are evidence that is not read yet: they end with their retention.
 */
export async function eraseReportedParties(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  const references = Prisma.sql`
    SELECT 'nsu' AS kind, nsu::text AS value FROM statement_line
    WHERE account_id = ${accountId} AND nsu = ${nsu}
    UNION ALL
    SELECT reference.kind, reference.value FROM statement_line t
    CROSS JOIN LATERAL (VALUES ('end_to_end_id', t.end_to_end_id),
                               ('correlation_id', t.correlation_id)) reference (kind, value)
    WHERE t.account_id = ${accountId} AND t.nsu = ${nsu} AND reference.value IS NOT NULL`;
  await tx.$executeRaw`
    DELETE FROM webhook_counterparty w USING (${references}) r
    WHERE w.account_id = ${accountId} AND w.reference_kind = r.kind AND w.reference = r.value`;
  await tx.$executeRaw`
    UPDATE webhook_event w SET body = NULL FROM (${references}) r
    WHERE w.account_id = ${accountId} AND w.state = 'processed' AND w.body IS NOT NULL
      AND w.reference = r.value
      AND CASE r.kind WHEN 'nsu' THEN w.reference_kind = 'nsu'
            WHEN 'end_to_end_id' THEN w.reference_kind = 'end_to_end_id'
            ELSE w.reference_kind = 'correlation_id' END`;
}
