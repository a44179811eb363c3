// Finds in which traces a decision is recorded: events of a line in that of the webhook that
// reported it first, settlements in that of the request.
import { Prisma } from '../../generated/service/client.js';
import { opaqueArray, type Reader } from '../../platform/postgres/database.service.js';

export interface TraceContext {
  /** Of a line, or null. */
  nsu: bigint | null;
  /** Or of an operation. */
  operationId: string | null;
  traceparent: string;
}

const first = (accountId: number, kind: string, reference: Prisma.Sql) => Prisma.sql`
  SELECT traceparent, received_at FROM webhook_event
  WHERE account_id = ${accountId} AND reference_kind = ${Prisma.raw(`'${kind}'`)}
    AND reference = ${reference}
  ORDER BY received_at LIMIT 1`;

/** Lines without a webhook, and operations from a time without traces, are left out. */
export async function listTraceContexts(
  db: Reader,
  accountId: number,
  { nsus, operationIds }: { nsus: readonly bigint[]; operationIds: readonly string[] },
): Promise<TraceContext[]> {
  return db.$queryRaw<TraceContext[]>`
    SELECT t.nsu, NULL::text AS "operationId", w.traceparent
    FROM unnest(${opaqueArray(nsus, 'bigint')}) AS asked(nsu)
    JOIN statement_line t ON t.account_id = ${accountId} AND t.nsu = asked.nsu
    CROSS JOIN LATERAL (
      SELECT traceparent FROM (
        (${first(accountId, 'nsu', Prisma.sql`t.nsu::text`)})
        UNION ALL (${first(accountId, 'end_to_end_id', Prisma.sql`t.end_to_end_id`)})
        UNION ALL
        -- The last one: a static QR code is paid, and reported, many times.
        (SELECT traceparent, received_at FROM webhook_event
         WHERE account_id = ${accountId} AND reference_kind = 'correlation_id'
           AND reference = t.correlation_id
         ORDER BY received_at_bank_time DESC LIMIT 1)
      ) reports
      ORDER BY received_at LIMIT 1
    ) w
    WHERE w.traceparent IS NOT NULL
    UNION ALL
    SELECT NULL, o.id::text, o.traceparent
    FROM unnest(${opaqueArray(operationIds, 'uuid')}) AS asked(id)
    JOIN operation o ON o.account_id = ${accountId} AND o.id = asked.id
    WHERE o.traceparent IS NOT NULL`;
}
