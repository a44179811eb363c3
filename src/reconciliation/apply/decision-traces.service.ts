// Records what was decided in the traces of those whom it concerns: one job decides the lines of
// many webhooks and the payments of many requests.
import { afterCommit, type SqlTx } from '../../platform/postgres/database.service.js';
import type { NewEvent } from '../../events/event.js';
import { beginSpan, isInSpan } from '../../platform/trace.js';
import type { Decision } from '../decide/decide.js';
import type { LineAllocation } from '../decide/model.js';
import { listTraceContexts } from './trace-contexts.queries.js';

interface Decided {
  decision: Decision;
  /** New matches. */
  made: readonly LineAllocation[];
  events: NewEvent[];
}

/**
 * Records the settlement of each request whose payment is matched, and returns the events with the
 * traces of the webhooks that reported their lines. Where no spans are recorded, it only returns
 * them.
 */
export async function recordTraces(
  tx: SqlTx,
  accountId: number,
  { decision: { component, results }, made, events }: Decided,
): Promise<NewEvent[]> {
  if (!isInSpan() || events.length + made.length === 0) return events;
  const settled = made.flatMap((allocation) => {
    const operationId = component.paymentById.get(allocation.expectedPaymentId)?.operationId;
    const settlement = results.get(allocation)?.settlement;
    return operationId && settlement ? [{ operationId, settlement }] : [];
  });
  const nsuOf = ({ data: { nsu } }: NewEvent) => (typeof nsu === 'bigint' ? nsu : null);
  const found = await listTraceContexts(tx, accountId, {
    nsus: [...new Set(events.flatMap((event) => nsuOf(event) ?? []))],
    operationIds: [...new Set(settled.map(({ operationId }) => operationId))],
  });
  const ofLines = new Map(found.map(({ nsu, traceparent }) => [nsu, traceparent]));
  const ofOperations = new Map(found.map((one) => [one.operationId, one.traceparent]));
  for (const { operationId, settlement } of settled) {
    const span = beginSpan('settlement', 'INTERNAL', ofOperations.get(operationId));
    span?.set({ 'concilia.operation_id': operationId, 'concilia.settlement': settlement });
    if (span) afterCommit(tx, () => span.end());
  }
  return events.map((event) => ({ ...event, traceparent: ofLines.get(nsuOf(event)) ?? null }));
}
