// Declared payments with their versions. The row of `expected_payment` has the terms of the last
// version, and each version stays.
import { z } from 'zod';
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type ExpectedPayment,
  type ExpectedPaymentAction,
  type ExpectedPaymentVersion,
  type Settlement,
} from '../../generated/service/client.js';
import { newId } from '../../platform/ids.js';
import { recordPaymentTasks } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import {
  conditionAmounts,
  declaredKind,
  type DeclaredTerms,
  type StoredTerms,
} from './declared-terms.js';
import { insertFacts } from './expected-payments.queries.js';
import { storedParts } from './payment-parts.js';
import { addReferences } from './recording.queries.js';
import { isProvisional } from './provisional.queries.js';

/** Who made a version, and why. */
export interface VersionAuthor {
  accountId: number;
  /** The API key. */
  actor: string;
  reason: string | null;
}

type NewVersion = VersionAuthor & {
  id: string;
  version: number;
  action: ExpectedPaymentAction;
  terms: DeclaredTerms;
  stored: StoredTerms;
};

/** The present time by the bank's clock, as of the last sync. */
const bankTime = (accountId: number) => Prisma.sql`(
  SELECT clock_timestamp() + COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond'
  FROM statement_state WHERE account_id = ${accountId})`;

/** Stores the payment and its first version. Null when the externalId is taken. */
export async function insertDeclaredPayment(
  tx: Tx,
  author: VersionAuthor,
  externalId: string,
  { terms, stored }: Pick<NewVersion, 'terms' | 'stored'>,
): Promise<string | null> {
  const { accountId } = author;
  const id = newId();
  // `version` and the window are set at once: a payment has both or neither.
  const inserted = await tx.$executeRaw`
    INSERT INTO expected_payment (account_id, id, kind, is_credit, is_multi_use, external_id,
      version, date_from, date_to, created_at_bank_time)
    VALUES (${accountId}, ${id}::uuid, ${declaredKind}, ${terms.isCredit}, false, ${externalId}, 1,
      ${terms.dateFrom}::date, ${terms.dateTo}::date, ${bankTime(accountId)})
    ON CONFLICT (account_id, external_id) WHERE external_id IS NOT NULL DO NOTHING`;
  if (inserted === 0) return null;
  await insertVersion(tx, { ...author, id, version: 1, action: 'declared', terms, stored });
  return id;
}

/** Adds a version and makes its terms those of the payment. */
export async function insertVersion(tx: Tx, made: NewVersion): Promise<void> {
  const { accountId, id, version, action, actor, reason, terms, stored } = made;
  const { amountCents, amountFromCents, amountToCents, toleranceCents, dateTo } = terms;
  const { counterpartyName, category, costCentre, project } = terms;
  const amounts = conditionAmounts(terms);
  const conditions = {
    version,
    leastCents: amounts?.fromCents ?? null,
    mostCents: amounts?.toCents ?? null,
    dateFrom: new Date(terms.dateFrom),
    dateTo: new Date(dateTo),
    counterpartyDocument: terms.taxId,
  };
  const ofPayment = { accountId, expectedPaymentId: id };
  await tx.expectedPaymentVersion.create({
    data: { ...ofPayment, ...conditions, action, actor, reason, terms: stored },
  });
  await tx.expectedPayment.update({
    where: { accountId_id: { accountId, id } },
    data: {
      ...conditions,
      ...{ amountCents, amountFromCents, amountToCents, toleranceCents, dueDate: dateTo },
      ...{ counterpartyName, textPattern: terms.text },
      ...{ category, costCentre, project },
      parts: z.encode(storedParts, terms.parts ?? []),
    },
  });
  const kept = terms.references.map(({ kind, value }) => ({ kind, value }));
  await tx.expectedPaymentReference.deleteMany({ where: { ...ofPayment, NOT: { OR: kept } } });
  await tx.expectedPaymentMetadata.deleteMany({ where: ofPayment });
  const texts = Object.entries(terms.metadata ?? {});
  await tx.expectedPaymentMetadata.createMany({
    data: texts.map(([key, value]) => ({ ...ofPayment, key, value })),
  });
  // Records the task of the payment too.
  await addReferences(tx, accountId, [{ expectedPaymentId: id, references: terms.references }]);
}

/** Records that the payment is not expected any more. */
export async function recordCancellation(tx: Tx, accountId: number, id: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE expected_payment SET cancelled_at = ${bankTime(accountId)}
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
  await insertFacts(tx, accountId, { ids: [id] }, 'cancelled');
  await recordPaymentTasks(tx, accountId, [id]);
}

export type DeclaredPayment = Pick<ExpectedPayment, 'id' | 'cancelledAt' | 'createdAt'> & {
  externalId: string;
  version: number;
};

/** By its id or its externalId. `isLocked`: until the end of the transaction. */
export async function findDeclaredPayment(
  db: Db,
  accountId: number,
  name: { id: string } | { externalId: string },
  { isLocked = false } = {},
): Promise<DeclaredPayment | null> {
  const isNamed =
    'id' in name ? Prisma.sql`id = ${name.id}::uuid` : Prisma.sql`external_id = ${name.externalId}`;
  const [found] = await db.$queryRaw<DeclaredPayment[]>`
    SELECT id, external_id, version, cancelled_at, created_at FROM expected_payment
    WHERE account_id = ${accountId} AND external_id IS NOT NULL AND ${isNamed}
    ${isLocked ? Prisma.sql`FOR NO KEY UPDATE` : Prisma.empty}`;
  return found ?? null;
}

/** The terms of one version, as stored. */
export async function readStoredTerms(
  db: Db,
  accountId: number,
  id: string,
  version: number,
): Promise<unknown> {
  const key = { accountId, expectedPaymentId: id, version };
  const found = await db.expectedPaymentVersion.findUniqueOrThrow({
    where: { accountId_expectedPaymentId_version: key },
    select: { terms: true },
  });
  return found.terms;
}

/** Whether a line accounts for it otherwise than provisionally. */
export async function isPaidFinally(db: Db, accountId: number, id: string): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM match m
    WHERE m.account_id = ${accountId} AND m.expected_payment_id = ${id}::uuid
      AND m.unlinked_at IS NULL AND NOT ${isProvisional('m')} LIMIT 1`;
  return found.length > 0;
}

const shown = 50;

export type ShownVersion = Pick<
  ExpectedPaymentVersion,
  'version' | 'action' | 'actor' | 'reason' | 'terms' | 'recordedAt'
>;

/** The newest versions first. */
export async function listVersions(db: Db, accountId: number, id: string): Promise<ShownVersion[]> {
  return db.expectedPaymentVersion.findMany({
    where: { accountId, expectedPaymentId: id },
    select: {
      ...{ version: true, action: true, actor: true, reason: true },
      ...{ terms: true, recordedAt: true },
    },
    orderBy: { version: 'desc' },
    take: shown,
  });
}

export interface ShownPayment {
  nsu: bigint;
  amountCents: bigint;
  role: 'payment' | 'reversal';
  rule: string;
  isProvisional: boolean;
  occurredAt: Date;
}

/** The lines that account for the payment, the newest first. */
export async function listPayments(db: Db, accountId: number, id: string): Promise<ShownPayment[]> {
  return db.$queryRaw`
    SELECT m.nsu, m.amount_cents, m.role, m.rule, ${isProvisional('m')} AS "isProvisional",
           t.occurred_at
    FROM match m
    JOIN statement_line t ON t.account_id = m.account_id AND t.nsu = m.nsu
    WHERE m.account_id = ${accountId} AND m.expected_payment_id = ${id}::uuid
      AND m.unlinked_at IS NULL
    ORDER BY t.occurred_at DESC, m.nsu DESC LIMIT ${shown}`;
}

export interface ShownTotal {
  settlement: Settlement;
  paidCents: bigint;
  returnedCents: bigint;
  /** It is open after its last payment day. */
  isOverdue: boolean;
}

/** What the payment has come to; null until it was decided. */
export async function findTotal(db: Db, accountId: number, id: string): Promise<ShownTotal | null> {
  const [total] = await db.$queryRaw<ShownTotal[]>`
    SELECT settlement, paid_cents, refunded_cents + reversed_cents AS "returnedCents",
           settlement = 'open' AND last_payment_day < (
             SELECT to_char(${bankTime(accountId)} AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')
           ) AS "isOverdue"
    FROM expected_payment_total
    WHERE account_id = ${accountId} AND expected_payment_id = ${id}::uuid`;
  return total ?? null;
}
