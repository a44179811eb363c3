// Reads the ids that a webhook ties to the movement that it reports. It is evidence where the line
// lacks them: the webhook names, and the line settles.
import { z } from 'zod';
import { maxIdLength, reais } from '../../bank-contract/wire.js';
import type { Reference } from '../../statement/expected-payments/references.js';
import { isCreditReported } from './webhook-counterparty.js';
import { readWebhookFields } from './webhook-body.js';

export interface ReportedReferences {
  isCredit: boolean;
  amountCents: bigint;
  references: Reference[];
}

const id = z.string().min(1).max(maxIdLength).nullish().catch(null);

const fields = z.looseObject({
  amount: reais,
  status: z.string().nullish().catch(null),
  error: z.unknown().optional(),
  correlationId: id,
  idempotencyKey: id,
  externalId: id,
  originalEndToEndId: id,
});

/** Null for a failure, and where direction, amount or ids are missing. */
export function readReportedReferences(
  eventType: string,
  body: Uint8Array,
): ReportedReferences | null {
  const isCredit = isCreditReported(eventType);
  const decoded = z.safeDecode(fields, readWebhookFields(body) as never);
  if (isCredit === null || !decoded.success) return null;
  const { amount, status, error, ...ids } = decoded.data;
  if ((error ?? null) !== null || /ERROR|FAIL/i.test(status ?? '')) return null;
  // The payer of a credit chooses its other ids.
  const found = isCredit
    ? { correlation_id: ids.correlationId }
    : {
        idempotency_key: ids.idempotencyKey,
        external_id: ids.externalId,
        original_end_to_end_id: ids.originalEndToEndId,
      };
  const references = Object.entries(found).flatMap(([kind, value]): Reference[] =>
    value && !value.includes('\0') ? [{ kind: kind as Reference['kind'], value }] : [],
  );
  return references.length === 0 ? null : { isCredit, amountCents: amount, references };
}
