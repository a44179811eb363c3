// Reads the expected payments of a component, with the facts of what expects them.
import { opaqueAccountId, type Db } from '../database.service.js';
import { sharedReferenceKinds } from '../expected-payments/references.js';
import { Prisma } from '../generated/service/client.js';
import {
  effectOfOperation,
  isWithoutResponse,
  maxNamed,
  type LoadOptions,
  type Selection,
} from './component.queries.js';
import type {
  BillFacts,
  ChargeFacts,
  ExpectedPaymentFacts,
  TransferFacts,
} from './decide/model.js';

type ExpectedPaymentRow = Omit<ExpectedPaymentFacts, 'effect' | 'charge' | 'transfer' | 'bill'> & {
  effectFrom: Date | null;
  effectUntil: Date | null;
  chargeCorrelationId: string | null;
  chargeType: string | null;
  transferId: string | null;
  transferEndToEndId: string | null;
  billState: string | null;
} & Omit<ChargeFacts, 'correlationId' | 'type'> &
  Omit<TransferFacts, 'id' | 'endToEndId'> &
  Omit<BillFacts, 'state'>;

const chargeColumns = Prisma.sql`
  c.correlation_id AS "chargeCorrelationId", c.type AS "chargeType",
  c.cancelled_at, c.expired_at,
  c.bank_due_date`;

const transferColumns = (freshMs: number) => Prisma.sql`
  t.id AS "transferId", t.external_id, t.end_to_end_id AS "transferEndToEndId",
  t.error_code,
  CASE WHEN t.state = 'failed' THEN
    CASE WHEN t.updated_at > clock_timestamp() - ${freshMs} * interval '1 millisecond'
         THEN 'recent' ELSE 'past' END
  END AS failure`;

const billColumns = Prisma.sql`
  p.state AS "billState", p.bank_id, p.bank_status,
  p.scheduled_for, p.may_go_until,
  p.freed_at IS NOT NULL AS "isFreed",
  p.id IS NOT NULL AND EXISTS (
    SELECT FROM bill_payment other
    WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
      AND other.state <> 'failed' AND other.state <> 'rejected' AND other.freed_at IS NULL
  ) AS "hasOtherLive"`;

/** The references of a payment (e). One that names too many payments names none of them. */
const knownReferences = (accountId: number) => Prisma.sql`
  SELECT COALESCE(jsonb_agg(jsonb_build_object('kind', kind, 'value', value)), '[]') AS list
  FROM (
    SELECT kind, value FROM expected_payment_reference
    WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = e.id OFFSET 0
  ) reference
  WHERE kind = ANY (${sharedReferenceKinds}::text[]) OR (
    SELECT count(*) FROM (
      SELECT FROM expected_payment_reference other
      WHERE other.account_id = ${opaqueAccountId(accountId)} AND other.kind = reference.kind
        AND other.value = reference.value
      LIMIT ${maxNamed + 1}
    ) named
  ) <= ${maxNamed}`;

export async function listPaymentFacts(
  db: Db,
  accountId: number,
  { effectMs, freshMs }: LoadOptions,
  selection: Selection,
): Promise<ExpectedPaymentFacts[]> {
  const ofAccount = Prisma.sql`account_id = ${opaqueAccountId(accountId)}`;
  const payments =
    selection === 'all'
      ? Prisma.sql`(SELECT * FROM expected_payment WHERE ${ofAccount}) e`
      : Prisma.sql`unnest(${[...selection.expectedPaymentIds]}::uuid[]) AS wanted(id)
          CROSS JOIN LATERAL (
            SELECT * FROM expected_payment WHERE ${ofAccount} AND id = wanted.id OFFSET 0) e`;
  // Each look-up uses its index, whatever the statistics say.
  const one = (table: string, alias: string, condition: Prisma.Sql) => Prisma.sql`
    LEFT JOIN LATERAL (
      SELECT * FROM ${Prisma.raw(table)} WHERE ${ofAccount} AND ${condition} OFFSET 0
    ) ${Prisma.raw(alias)} ON true`;
  const isOfPayment = Prisma.sql`expected_payment_id = e.id`;
  const rows = await db.$queryRaw<ExpectedPaymentRow[]>`
    SELECT e.id, e.operation_id, e.kind, e.is_credit, e.amount_cents, e.due_date, e.terms,
           e.is_multi_use, e.counterparty_document,
           e.created_at, e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           COALESCE(e.created_at_bank_time, e.created_at + clock.ahead) AS "createdAtBankTime",
           known.list AS "references", o.state AS "operationState",
           COALESCE(${isWithoutResponse}, false) AS "isWithoutResponse",
           effect."from" AS "effectFrom", effect."until" AS "effectUntil",
           GREATEST(o.effective_from, p.scheduled_for, o.ended_at + COALESCE(
             attempt.clock_offset_ms * interval '1 millisecond', clock.ahead)) AS "effectiveAt",
           fact.kind AS withdrawal, r.original_nsu AS "refundOfNsu",
           ${chargeColumns}, ${transferColumns(freshMs)}, ${billColumns}
    FROM ${payments}
    ${one('operation', 'o', Prisma.sql`id = e.operation_id`)}
    ${one('charge', 'c', isOfPayment)}
    ${one('refund', 'r', isOfPayment)}
    ${one('transfer', 't', isOfPayment)}
    ${one('bill_payment', 'p', isOfPayment)}
    LEFT JOIN LATERAL (
      SELECT clock_offset_ms FROM (
        SELECT number, clock_offset_ms FROM operation_attempt
        WHERE ${ofAccount} AND operation_id = o.id OFFSET 0
      ) made ORDER BY number DESC LIMIT 1
    ) attempt ON true
    CROSS JOIN (
      SELECT COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS ahead
      FROM statement_state WHERE ${ofAccount}
    ) clock
    LEFT JOIN LATERAL (${effectOfOperation(accountId, effectMs)}) effect
      ON o.id IS NOT NULL AND NOT e.is_credit AND ${isWithoutResponse}
    CROSS JOIN LATERAL (${knownReferences(accountId)}) known
    LEFT JOIN LATERAL (
      SELECT nullif(kind, 'expected_again') AS kind FROM (
        SELECT * FROM expected_payment_fact WHERE ${ofAccount} AND ${isOfPayment} OFFSET 0
      ) known_fact
      WHERE kind <> 'absence_revoked' ORDER BY sequence DESC LIMIT 1
    ) fact ON true`;
  return rows.map(toExpectedPayment);
}

function toExpectedPayment(row: ExpectedPaymentRow): ExpectedPaymentFacts {
  const { effectFrom: from, effectUntil: until, chargeCorrelationId, chargeType, ...rest } = row;
  const { cancelledAt, expiredAt, bankDueDate, transferId, transferEndToEndId, ...others } = rest;
  const { externalId, errorCode, failure, billState, bankId, bankStatus, ...more } = others;
  const { scheduledFor, mayGoUntil, isFreed, hasOtherLive, ...payment } = more;
  const ends = { cancelledAt, expiredAt, bankDueDate };
  return {
    ...payment,
    effect: from && until && { from, until },
    charge:
      chargeCorrelationId === null || chargeType === null
        ? null
        : { correlationId: chargeCorrelationId, type: chargeType, ...ends },
    transfer:
      transferId === null
        ? null
        : { id: transferId, externalId, endToEndId: transferEndToEndId, errorCode, failure },
    bill:
      billState === null
        ? null
        : {
            ...{ state: billState, bankId, bankStatus, scheduledFor, mayGoUntil },
            ...{ isFreed, hasOtherLive },
          },
  };
}
