// SQL of transfers and of the look-ups that they use. A state only advances: a late report never
// changes a final state.
import {
  opaqueAccountId,
  opaqueArray,
  type Db,
  type SqlTx,
  type Tx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { recordPaymentTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import {
  Prisma,
  type PixLookup,
  type Transfer,
  type TransferState,
} from '../../generated/service/client.js';
import { scheduledTime } from '../../brazil/business-hours.js';
import { readBankTime } from '../../statement/lines/bank-clock.queries.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import type { OperationRef } from '../operations/operations.queries.js';
import { metadataOfRow } from '../../statement/expected-payments/metadata.queries.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import type { TransferReport } from './transfer-status.js';

/** A transfer about which the bank has reported something. */
export interface UpdatedTransfer extends Pick<
  Transfer,
  | ('id' | 'operationId' | 'shape' | 'state' | 'amountCents' | 'expectedPaymentId')
  | ('endToEndId' | 'externalId' | 'bankId' | 'errorCode')
> {
  /** Whether the report made it final. */
  hasFinished: boolean;
  metadata: Metadata | null;
}

export type TransferKey = Pick<Transfer, 'id' | 'expectedPaymentId'>;
export type NewTransfer = Pick<
  Transfer,
  'shape' | 'amountCents' | 'counterparty' | 'endToEndId' | 'externalId'
>;

export type NewTransferRow = NewTransfer & TransferKey & Pick<Transfer, 'operationId' | 'position'>;

export function transfersWrite(accountId: number, rows: readonly NewTransferRow[]): Write {
  // Amounts are text: JSON numbers would pass through a float.
  const recordset = rows.map((row) => ({ ...row, amountCents: row.amountCents.toString() }));
  const sql = Prisma.sql`
    INSERT INTO transfer (account_id, id, operation_id, position, shape, amount_cents, counterparty,
                          end_to_end_id, external_id, state, expected_payment_id)
    SELECT ${accountId}::int, id, "operationId", position, shape, "amountCents"::bigint,
           counterparty, "endToEndId", "externalId", 'requested', "expectedPaymentId"
    FROM jsonb_to_recordset(${JSON.stringify(recordset)}::jsonb) AS r(
      id uuid, "operationId" uuid, position int, shape transfer_shape, "amountCents" text,
      counterparty text, "endToEndId" text, "externalId" text, "expectedPaymentId" uuid)`;
  return { sql, rows: rows.length };
}

/** The claim of a look-up by the transfer of an operation, at a time of the bank's clock. */
export interface LookupClaim {
  endToEndId: string;
  operationId: string;
  now: Date;
  /** When it expires if it was made without the service. */
  expiresAt: Date;
  /** Whether no caller has seen the holder in the look-up's response. */
  isUnseen: boolean;
}

/**
 * Whether the bank has not confirmed that the key belongs to the holderDocument of the look-up `l`,
 * and the account does not do without the confirmation.
 */
const hasWrongPayee = Prisma.sql`(l.holder_document_hash IS NOT NULL
  AND l.key_belongs_holder IS NOT TRUE AND NOT EXISTS (
    SELECT FROM payment_control c WHERE c.account_id = l.account_id AND NOT c.checks_payee))`;

/**
 * Whether the key of the look-up `l` has another holder by now. A look-up of the same second may be
 * the later one: its account or its holder must not differ either.
 */
const hasNewerHolder = Prisma.sql`EXISTS (
  SELECT FROM pix_lookup newer
  WHERE newer.account_id = l.account_id AND newer.key_hash = l.key_hash
    AND newer.looked_up_at >= l.looked_up_at
    AND (newer.holder_hash, newer.counterparty) IS DISTINCT FROM (l.holder_hash, l.counterparty))`;

/**
 * Whether the key of the look-up `l` had another holder when the account last paid to it, or was
 * first looked up if it never paid. A document that the bank has confirmed names the new holder.
 */
const hasOtherFormerHolder = Prisma.sql`(l.key_belongs_holder IS NOT TRUE AND l.holder_hash <> (
  SELECT former.holder_hash FROM pix_lookup former
  WHERE former.account_id = l.account_id AND former.key_hash = l.key_hash
    AND former.end_to_end_id <> l.end_to_end_id
  ORDER BY former.operation_id IS NULL,
           CASE WHEN former.operation_id IS NOT NULL THEN former.looked_up_at END DESC,
           former.looked_up_at
  LIMIT 1))`;

/**
 * Claims look-ups, if they are neither used nor expired, and their payee is not wrong. One that was
 * made without the service is stored with its claim: whether it is valid is for the bank to say.
 */
export function lookupClaimsWrite(accountId: number, claims: readonly LookupClaim[]): Write {
  const unseen = claims.filter(({ isUnseen }) => isUnseen).map(({ endToEndId }) => endToEndId);
  const sql = Prisma.sql`
    INSERT INTO pix_lookup AS l (account_id, end_to_end_id, counterparty, looked_up_at, expires_at,
                                 operation_id)
    SELECT ${accountId}::int, "endToEndId", "endToEndId", now, "expiresAt", "operationId"
    FROM jsonb_to_recordset(${JSON.stringify(claims)}::jsonb) AS r(
      "endToEndId" text, "operationId" uuid, now timestamptz, "expiresAt" timestamptz)
    WHERE "expiresAt" > now OR EXISTS (
      SELECT FROM pix_lookup made
      WHERE made.account_id = ${accountId} AND made.end_to_end_id = r."endToEndId")
    ORDER BY "endToEndId"
    ON CONFLICT (account_id, end_to_end_id) DO UPDATE SET operation_id = EXCLUDED.operation_id
    WHERE l.operation_id IS NULL AND l.expires_at > EXCLUDED.looked_up_at
      AND NOT ${hasWrongPayee} AND NOT ${hasNewerHolder}
      AND NOT (l.end_to_end_id = ANY (${unseen}::text[]) AND ${hasOtherFormerHolder} IS TRUE)`;
  return { sql, rows: claims.length };
}

/** The rules that a look-up may break when a transfer by its key is to be sent. */
export interface LookupRules {
  isUsed: boolean;
  isExpired: boolean;
  hasWrongPayee: boolean;
  hasChanged: boolean;
}

/** Null unless this account made the look-up. */
export async function readLookupRules(
  tx: SqlTx,
  accountId: number,
  { endToEndId, now, isUnseen }: Pick<LookupClaim, 'endToEndId' | 'now' | 'isUnseen'>,
): Promise<LookupRules | null> {
  const [lookup] = await tx.$queryRaw<LookupRules[]>`
    SELECT l.operation_id IS NOT NULL AS "isUsed", l.expires_at <= ${now} AS "isExpired",
           ${hasWrongPayee} AS "hasWrongPayee",
           ${hasNewerHolder} OR (${isUnseen} AND ${hasOtherFormerHolder} IS TRUE) AS "hasChanged"
    FROM pix_lookup l WHERE l.account_id = ${accountId} AND l.end_to_end_id = ${endToEndId}`;
  return lookup ?? null;
}

/** What a look-up shows, as it is stored: beside `payee`, key and holder only as keyed hashes. */
export type NewPixLookup = Omit<PixLookup, 'operationId'>;

/**
 * Stores a look-up. A bank may answer a repeat with an earlier look-up, which stays used if a
 * transfer uses it. The repeat may have another holderDocument: the transfer needs the bank's
 * confirmation of every document that was given.
 */
export async function insertPixLookup(db: Db, lookup: NewPixLookup): Promise<void> {
  await db.$executeRaw`
    INSERT INTO pix_lookup AS l (account_id, end_to_end_id, counterparty, looked_up_at, expires_at,
                                 key_hash, holder_hash, holder_document_hash, key_belongs_holder,
                                 payee)
    VALUES (${lookup.accountId}, ${lookup.endToEndId}, ${lookup.counterparty},
            ${lookup.lookedUpAt}, ${lookup.expiresAt}, ${lookup.keyHash}, ${lookup.holderHash},
            ${lookup.holderDocumentHash}, ${lookup.keyBelongsHolder}, ${lookup.payee})
    ON CONFLICT (account_id, end_to_end_id) DO UPDATE
    SET key_belongs_holder = EXCLUDED.key_belongs_holder
          AND COALESCE(l.holder_document_hash = EXCLUDED.holder_document_hash
                       AND l.key_belongs_holder, true),
        holder_document_hash = EXCLUDED.holder_document_hash
    WHERE EXCLUDED.holder_document_hash IS NOT NULL`;
}

/** Whether a report (r) names a transfer (t) by an endToEndId that it has or had. */
const isNamed = Prisma.sql`EXISTS (
  SELECT FROM expected_payment_reference known
  WHERE known.account_id = t.account_id AND known.expected_payment_id = t.expected_payment_id
    AND known.kind = 'end_to_end_id' AND known.value = r."endToEndId")`;

/** Whether the endToEndId is that of another payment of the account. */
export async function isEndToEndIdOfAnother(
  db: Db,
  accountId: number,
  { expectedPaymentId, endToEndId }: { expectedPaymentId: string; endToEndId: string },
): Promise<boolean> {
  const other = await db.expectedPaymentReference.findFirst({
    where: {
      ...{ accountId, kind: 'end_to_end_id', value: endToEndId },
      expectedPaymentId: { not: expectedPaymentId },
    },
  });
  return other !== null;
}

/**
 * Stores what the bank reported about transfers. Returns them, and whether they became final. Ids
 * that were missing, and a later endToEndId, are stored even for a final transfer: a response may
 * arrive after the statement's evidence. All endToEndIds stay references.
 */
export async function updateTransfers(
  tx: SqlTx,
  accountId: number,
  reports: (Omit<TransferReport, 'nsu'> & { id: string })[],
  firstStatusCheckMs: number | null,
): Promise<UpdatedTransfer[]> {
  const updated = await tx.$queryRaw<UpdatedTransfer[]>`
    WITH report AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(reports)}::jsonb) AS r(
        id uuid, state transfer_state, "bankStatus" text, "errorCode" text, "bankId" text,
        "endToEndId" text)
    ), before AS (
      SELECT t.id, t.state, t.state IN ('effective', 'failed') AS is_final
      FROM transfer t
      WHERE t.account_id = ${opaqueAccountId(accountId)}
        AND t.id = ANY (${reports.map(({ id }) => id)}::uuid[])
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), updated AS (
      UPDATE transfer t
      SET bank_id = COALESCE(t.bank_id, r."bankId"),
          end_to_end_id = CASE
            WHEN t.bank_id = r."bankId" AND r."endToEndId" <> t.end_to_end_id AND NOT ${isNamed}
              THEN r."endToEndId"
            ELSE COALESCE(t.end_to_end_id, r."endToEndId") END,
          state = CASE WHEN b.is_final THEN b.state ELSE r.state END,
          bank_status = CASE WHEN b.is_final THEN t.bank_status
            ELSE COALESCE(r."bankStatus", t.bank_status) END,
          error_code = CASE WHEN b.is_final THEN t.error_code ELSE r."errorCode" END,
          next_check_at = CASE
            WHEN NOT b.is_final AND r.state = 'accepted'
              AND ${firstStatusCheckMs}::float8 IS NOT NULL
            -- An accepted transfer without a next check has had its last one.
            THEN CASE WHEN b.state = 'accepted' THEN t.next_check_at ELSE COALESCE(
              t.next_check_at,
              clock_timestamp() + ${firstStatusCheckMs}::float8 * interval '1 millisecond') END
          END,
          updated_at = CASE WHEN b.is_final THEN t.updated_at ELSE clock_timestamp() END
      FROM report r JOIN before b ON b.id = r.id
      WHERE t.account_id = ${opaqueAccountId(accountId)} AND t.id = r.id
      RETURNING t.*, b.is_final AS was_final
    )
    SELECT id, operation_id, shape, state, amount_cents, end_to_end_id, external_id, bank_id,
           error_code, expected_payment_id,
           ${metadataOfRow('updated')} AS metadata,
           state IN ('effective', 'failed') AND NOT was_final AS "hasFinished"
    FROM updated ORDER BY position`;
  // The debit of a transfer that failed is a break until it is reversed.
  const failed = updated.filter(({ state, hasFinished }) => hasFinished && state === 'failed');
  await recordPaymentTasks(
    tx,
    accountId,
    failed.map(({ expectedPaymentId }) => expectedPaymentId),
  );
  return updated;
}

/**
 * Rejects the requested transfers of an operation: rejected by the bank, or proven not executed.
 */
export async function rejectTransfers(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE transfer SET state = 'rejected', next_check_at = NULL, updated_at = clock_timestamp()
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid AND state = 'requested'`;
}

/**
 * Reopens transfers that were proven not executed: another item of their batch is on the statement.
 */
export async function reopenTransfers(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE transfer SET state = 'requested', updated_at = clock_timestamp()
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid AND state = 'rejected'`;
}

export async function listTransfersOfOperation(
  tx: Tx,
  { accountId, id }: OperationRef,
  state?: TransferState,
): Promise<TransferKey[]> {
  return tx.transfer.findMany({
    where: { accountId, operationId: id, state },
    orderBy: { position: 'asc' },
    select: { id: true, expectedPaymentId: true },
  });
}

/** The transfers of an operation, with the ids on the statement lines of their matched debits. */
export async function listTransfersWithDebits(
  tx: Tx,
  { accountId, id }: OperationRef,
): Promise<
  (Pick<Transfer, keyof TransferKey | 'shape' | 'endToEndId' | 'bankId'> & { isDebited: boolean })[]
> {
  return tx.$queryRaw`
    SELECT t.id, t.expected_payment_id, t.shape,
           debit.nsu IS NOT NULL AS "isDebited",
           debit.end_to_end_id, debit.movement_id AS "bankId"
    FROM transfer t
    LEFT JOIN LATERAL (
      SELECT l.nsu, l.end_to_end_id, l.movement_id
      FROM match m JOIN statement_line l ON l.account_id = m.account_id AND l.nsu = m.nsu
      WHERE m.account_id = t.account_id AND m.expected_payment_id = t.expected_payment_id
        AND m.role = 'payment' AND m.unlinked_at IS NULL
      ORDER BY l.nsu LIMIT 1
    ) debit ON true
    WHERE t.account_id = ${accountId} AND t.operation_id = ${id}::uuid
    ORDER BY t.position`;
}

/** Whether a transfer of another operation already has one of these externalIds. */
export async function isExternalIdUsed(
  db: Db,
  accountId: number,
  externalIds: string[],
  exceptOperationId?: string,
): Promise<boolean> {
  const found = await db.transfer.findFirst({
    where: {
      accountId,
      externalId: { in: externalIds },
      operationId: { not: exceptOperationId },
    },
    select: { id: true },
  });
  return found !== null;
}

/**
 * The oldest operation of a batch of which an item has the externalId, account and amount of one of
 * these, and has not failed. It is unfinished, or has succeeded within that time.
 */
export async function findRepeatedItem(
  tx: Tx,
  accountId: number,
  items: readonly NewTransfer[],
  withinMs: number,
): Promise<{ id: string } | null> {
  const rows = items.map((item) => ({ ...item, amountCents: item.amountCents.toString() }));
  const [found] = await tx.$queryRaw<{ id: string }[]>`
    SELECT o.id
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      "amountCents" text, counterparty text, "externalId" text)
    JOIN transfer t ON t.account_id = ${accountId} AND t.external_id = r."externalId"
      AND t.counterparty = r.counterparty AND t.amount_cents = r."amountCents"::bigint
      AND t.shape = 'batch' AND t.state NOT IN ('failed', 'rejected')
    JOIN operation o ON o.account_id = t.account_id AND o.id = t.operation_id
      AND (o.ended_at IS NULL OR o.state = 'needs_operator' OR (o.state = 'succeeded'
        AND o.ended_at > clock_timestamp() - ${withinMs}::float8 * interval '1 millisecond'))
    ORDER BY o.id LIMIT 1`;
  return found ?? null;
}

/**
 * Transfers that a debit was found to fit since their last check. Of one that is final, too, the
 * bank may name the debit: the response to a batch does not.
 */
const candidatesSinceCheck = Prisma.sql`
  SELECT t.account_id, t.id FROM line_candidate c
  JOIN transfer t ON t.account_id = c.account_id AND t.expected_payment_id = c.expected_payment_id
  WHERE t.state IN ('accepted', 'effective')
    AND c.found_at > COALESCE(t.checked_at, t.created_at)`;

export type DueTransfer = TransferKey &
  Pick<Transfer, 'bankId' | 'endToEndId' | 'externalId' | 'amountCents' | 'shape'>;

/**
 * Claims transfers for a status check: those whose check is due, and those that a webhook has
 * referenced since their last check, by their endToEndId, their key or the bank's id. The claim
 * also schedules the next check, so that a failed check loses no transfer; none is scheduled after
 * the last of `pausesMs`.
 */
export async function claimDueTransfers(
  db: Db,
  accountId: number,
  pausesMs: readonly number[],
  limit: number,
): Promise<DueTransfer[]> {
  return db.$queryRaw<DueTransfer[]>`
    WITH referenced AS (
      SELECT t.id FROM transfer t
      WHERE t.account_id = ${accountId} AND t.next_check_at IS NOT NULL AND EXISTS (
        SELECT 1 FROM webhook_event e
        WHERE e.account_id = t.account_id AND e.reference_kind = 'end_to_end_id'
          AND e.reference = t.end_to_end_id
          AND e.received_at > COALESCE(t.checked_at, t.created_at))
      UNION
      SELECT t.id FROM webhook_event e
      JOIN transfer t ON t.account_id = e.account_id AND t.end_to_end_id = e.reference
      WHERE e.account_id = ${accountId} AND e.state = 'pending'
        AND e.reference_kind = 'end_to_end_id' AND t.state = 'accepted'
        AND t.next_check_at IS NULL AND e.received_at > COALESCE(t.checked_at, t.created_at)
      UNION
      -- The bank may have sent the Pix under another endToEndId.
      SELECT t.id FROM webhook_event e
      CROSS JOIN LATERAL (
        SELECT * FROM transfer
        WHERE account_id = ${accountId} AND operation_id = CASE
          WHEN e.request_key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          THEN e.request_key::uuid END
        UNION
        SELECT * FROM transfer WHERE account_id = ${accountId} AND bank_id = e.request_key
      ) t
      WHERE e.account_id = ${accountId} AND e.state = 'pending'
        AND e.reference_kind = 'end_to_end_id' AND t.state = 'accepted'
        AND e.received_at > COALESCE(t.checked_at, t.created_at)
      UNION
      SELECT t.id FROM (${candidatesSinceCheck}) t WHERE t.account_id = ${accountId}
    ), candidate AS (
      (SELECT t.id FROM transfer t
       WHERE t.account_id = ${accountId} AND t.next_check_at <= clock_timestamp()
       ORDER BY t.next_check_at LIMIT ${limit})
      UNION SELECT id FROM referenced
    ), due AS (
      SELECT t.id FROM transfer t
      WHERE t.account_id = ${accountId} AND t.id IN (SELECT id FROM candidate)
        -- Again, of the locked row: a concurrent check may have claimed it.
        AND (t.next_check_at <= clock_timestamp() OR t.id IN (SELECT id FROM referenced))
      ORDER BY t.next_check_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE transfer t
    SET checks = t.checks + 1, checked_at = clock_timestamp(),
        next_check_at = clock_timestamp()
          + (${opaqueArray(pausesMs, 'int')})[t.checks + 2] * interval '1 millisecond'
    FROM due d WHERE t.account_id = ${accountId} AND t.id = d.id
    RETURNING t.id, t.expected_payment_id, t.bank_id, t.end_to_end_id, t.external_id,
              t.amount_cents, t.shape`;
}

/** Accounts with transfers whose status check is due. */
export async function listAccountsWithDueTransfers(db: Reader): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT account_id FROM transfer WHERE next_check_at <= clock_timestamp()
    UNION SELECT account_id FROM (${candidatesSinceCheck}) fitting`;
}

/** All endToEndIds of a transfer (t). */
const endToEndIdsOf = Prisma.sql`
  SELECT named.value FROM expected_payment_reference named
  WHERE named.account_id = t.account_id AND named.expected_payment_id = t.expected_payment_id
    AND named.kind = 'end_to_end_id'`;

/** Releases the look-up of a rejected transfer, so that it may start another transfer. */
export async function releasePixKeyLookup(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE pix_lookup l SET operation_id = NULL
    FROM transfer t
    WHERE t.account_id = ${accountId} AND t.operation_id = ${id}::uuid
      AND l.account_id = t.account_id AND l.end_to_end_id IN (${endToEndIdsOf})
      AND l.operation_id = t.operation_id`;
}

/** Claims a released look-up again: its transfer was recorded as rejected, but was executed. */
export async function reclaimPixKeyLookup(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE pix_lookup l SET operation_id = t.operation_id
    FROM transfer t
    WHERE t.account_id = ${accountId} AND t.operation_id = ${id}::uuid AND t.shape = 'key'
      AND l.account_id = t.account_id AND l.end_to_end_id IN (${endToEndIdsOf})
      AND l.operation_id IS NULL`;
}

/** When each transfer is scheduled, by the bank's clock; null where it is sent at once. */
export async function readScheduledTimes(
  db: Db,
  accountId: number,
  transfers: readonly { transferAt?: string | null | undefined }[],
): Promise<(Date | null)[]> {
  if (transfers.every(({ transferAt }) => !transferAt)) return transfers.map(() => null);
  const now = await readBankTime(db, accountId);
  return transfers.map(({ transferAt }) => scheduledTime(transferAt, now));
}
