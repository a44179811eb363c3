// SQL of payment controls. The row of an account's controls is the lock of its checked payments: a
// payment and a change of the controls or of a beneficiary follow one another.
import { holderOfActor } from '../../access/accounts/holders.queries.js';
import { statesWithoutEffect } from '../operation-states.js';
import { opaqueAccountId, type Db, type Tx } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type Beneficiary,
  type CountedPayment,
  type PaymentControl,
} from '../../generated/service/client.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { bankTimeNow } from '../../statement/lines/bank-clock.queries.js';
import type { LimitPeriod } from './limits.js';

/** Whether the row has a control that each payment is compared with. */
const isRestricting = Prisma.sql`(has_allow_list OR per_operation_cents IS NOT NULL
  OR per_hour_cents IS NOT NULL OR per_night_cents IS NOT NULL OR per_day_cents IS NOT NULL
  OR per_key_day_cents IS NOT NULL OR per_counterparty_day_cents IS NOT NULL)`;

/** Whether payments of the account are compared with controls, as a condition. */
export function hasRestrictingControls(accountId: number): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM payment_control WHERE account_id = ${accountId} AND ${isRestricting})`;
}

export interface RestrictingControls extends Omit<
  PaymentControl,
  | 'checksPayee'
  | 'coolingOffHours'
  | 'guardIntervalSeconds'
  | 'bankContact'
  | 'alarmAboveCents'
  | 'declaredDebits'
  | 'stopsOnAlarm'
> {
  /** At the bank. */
  now: Date;
}

/** The controls of the account and the bank's time; null when payments are compared with none. */
export async function findRestrictingControls(
  db: Db,
  accountId: number,
  lock = Prisma.empty,
): Promise<RestrictingControls | null> {
  const [controls] = await db.$queryRaw<RestrictingControls[]>`
    SELECT account_id, has_allow_list, allow_list_includes_bills, per_operation_cents,
           per_hour_cents, per_night_cents, per_day_cents, per_key_day_cents,
           per_counterparty_day_cents, night_from_hour, night_until_hour,
           ${bankTimeNow(accountId)} AS now
    FROM payment_control
    WHERE account_id = ${accountId} AND ${isRestricting} ${lock}`;
  return controls ?? null;
}

export const lockRestrictingControls = (tx: Tx, accountId: number) =>
  findRestrictingControls(tx, accountId, Prisma.sql`FOR NO KEY UPDATE`);

/** Locks the controls for a change. An account without a row gets the defaults. */
export async function lockControls(tx: Tx, accountId: number): Promise<PaymentControl> {
  await tx.$executeRaw`
    INSERT INTO payment_control (account_id) VALUES (${accountId}) ON CONFLICT DO NOTHING`;
  await tx.$queryRaw`
    SELECT 1 FROM payment_control WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return tx.paymentControl.findUniqueOrThrow({ where: { accountId } });
}

/** The beneficiaries in use among the counterparties, and whether each can be paid by now. */
export async function listUsedBeneficiaries(
  tx: Tx,
  accountId: number,
  counterparties: readonly string[],
): Promise<(Pick<Beneficiary, 'counterparty' | 'usableFrom'> & { isUsable: boolean })[]> {
  return tx.$queryRaw`
    SELECT counterparty, usable_from, usable_from <= clock_timestamp() AS "isUsable"
    FROM beneficiary
    WHERE account_id = ${accountId} AND removed_at IS NULL
      AND counterparty = ANY (${[...counterparties]}::text[])`;
}

/** How many channels of the account an alarm may use. */
export async function countAlertChannels(db: Db, accountId: number): Promise<number> {
  return db.alertChannel.count({ where: { accountId, deletedAt: null } });
}

export type NewBeneficiary = Pick<Beneficiary, 'accountId' | 'id' | 'counterparty' | 'name'>;

export async function insertBeneficiary(
  tx: Tx,
  { accountId, id, counterparty, name }: NewBeneficiary,
  coolingOffHours: number,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO beneficiary (account_id, id, counterparty, name, usable_from)
    VALUES (${accountId}, ${id}::uuid, ${counterparty}, ${name},
            clock_timestamp() + ${coolingOffHours} * interval '1 hour')`;
}

/** False when the account has no such beneficiary in use. */
export async function endBeneficiary(tx: Tx, accountId: number, id: string): Promise<boolean> {
  const removed = await tx.$executeRaw`
    UPDATE beneficiary SET removed_at = clock_timestamp()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND removed_at IS NULL`;
  return removed === 1;
}

/**
 * What moved no money does not count: an operation that ended so, or a payment that failed, once
 * the statement shows its reversal or proves that there was no debit. The bank undoes a refund only
 * where it failed. An operation whose outcome is not known counts, and so does a payment that its
 * beneficiary returned.
 */
const counts = Prisma.sql`JOIN operation o ON o.account_id = p.account_id AND o.id = p.operation_id
  AND o.state <> ALL (${statesWithoutEffect}::operation_state[])
  AND NOT EXISTS (
    SELECT FROM (
      SELECT t.expected_payment_id FROM transfer t
      WHERE t.account_id = p.account_id AND t.operation_id = p.operation_id
        AND t.position = p.position AND t.state = 'failed'
      UNION ALL
      SELECT b.expected_payment_id FROM bill_payment b
      WHERE b.account_id = p.account_id AND b.id = p.operation_id AND b.state = 'failed'
      UNION ALL
      SELECT r.expected_payment_id FROM refund r
      WHERE r.account_id = p.account_id AND r.id = p.operation_id
    ) failed
    JOIN expected_payment e ON e.account_id = p.account_id AND e.id = failed.expected_payment_id
    LEFT JOIN expected_payment_total total
      ON total.account_id = e.account_id AND total.expected_payment_id = e.id
    WHERE CASE WHEN COALESCE(total.paid_cents, 0) = 0 THEN e.withdrawn_at IS NOT NULL
               ELSE total.reversed_cents >= total.paid_cents END)`;

/**
 * Counts the payments of the last two days, and those that take effect later, which were requested
 * while the account had no limit. Two days span each period of a limit. One that waits for approval
 * counts once it is approved: counted here, those that wait could block each other.
 */
export async function countEarlierPayments(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO counted_payment (account_id, operation_id, position, actor, counterparty,
                                 amount_cents, effective_at)
    SELECT o.account_id, o.id, COALESCE(t.position, 0),
           CASE WHEN o.source <> 'policy' THEN o.requested_by END,
           COALESCE(t.counterparty, o.counterparty), COALESCE(t.amount_cents, o.amount_cents),
           COALESCE(o.effective_from, COALESCE(o.approved_at, o.created_at)
             + (${bankTimeNow(accountId)} - clock_timestamp()))
    FROM operation o
    LEFT JOIN transfer t
      ON t.account_id = o.account_id AND t.operation_id = o.id AND t.shape = 'batch'
    WHERE o.account_id = ${accountId} AND o.amount_cents IS NOT NULL AND o.counterparty IS NOT NULL
      AND o.state <> 'awaiting_approval'
      AND (o.ended_at IS NULL OR o.state = 'needs_operator'
        OR o.ended_at > clock_timestamp() - interval '2 days'
        OR o.effective_from > ${bankTimeNow(accountId)} - interval '2 days')
    ON CONFLICT DO NOTHING`;
}

const within = ({ from, until }: LimitPeriod) =>
  Prisma.sql`p.effective_at >= ${from} AND p.effective_at < ${until}`;

/** The payment that is compared. What it counted itself before it was approved is left out. */
interface ComparedPayment {
  accountId: number;
  /** Null to leave nothing out. */
  operationId: string | null;
  actor: string | null;
}

const isOther = ({ operationId }: ComparedPayment) =>
  operationId === null ? Prisma.sql`true` : Prisma.sql`p.operation_id <> ${operationId}::uuid`;

/** The sums of what was paid, in cents. */
export interface PaidSums {
  hour: bigint;
  night: bigint;
  day: bigint;
  /** By the holder of the actor on that day. */
  keyDay: bigint;
}

export async function sumPaid(
  db: Db,
  payment: ComparedPayment,
  { hour, night, day }: { hour: LimitPeriod; night: LimitPeriod | null; day: LimitPeriod },
): Promise<PaidSums> {
  const { accountId, actor } = payment;
  const sum = (condition: Prisma.Sql) =>
    Prisma.sql`COALESCE(sum(p.amount_cents) FILTER (WHERE ${condition}), 0)::bigint`;
  const periods = [day, ...(night ? [night] : [])];
  const from = new Date(Math.min(...periods.map((period) => period.from.getTime())));
  const until = new Date(Math.max(...periods.map((period) => period.until.getTime())));
  // A key that was rotated has the payments of those before it. A person is a holder by name.
  const holder = actor === null ? Prisma.sql`NULL::text` : holderOfActor(accountId, actor);
  const isOfHolder = Prisma.sql`${within(day)} AND (p.actor = ${holder} OR p.actor IN (
    SELECT id::text FROM api_key WHERE account_id = ${accountId} AND holder = ${holder}))`;
  const [sums] = await db.$queryRaw<PaidSums[]>`
    SELECT ${sum(within(hour))} AS hour, ${sum(night ? within(night) : Prisma.sql`false`)} AS night,
           ${sum(within(day))} AS day, ${sum(isOfHolder)} AS "keyDay"
    FROM counted_payment p ${counts}
    WHERE p.account_id = ${opaqueAccountId(accountId)} AND ${within({ from, until })}
      AND ${isOther(payment)}`;
  return sums ?? { hour: 0n, night: 0n, day: 0n, keyDay: 0n };
}

/**
 * What was paid to each of the counterparties on that day. The bank's own accounts are written as a
 * number alone, or in full: both are one counterparty.
 */
export async function listPaidTo(
  db: Db,
  payment: ComparedPayment,
  counterparties: readonly string[],
  day: LimitPeriod,
): Promise<{ counterparty: string; cents: bigint }[]> {
  return db.$queryRaw`
    SELECT r.counterparty, sum(p.amount_cents)::bigint AS cents
    FROM unnest(${[...counterparties]}::text[]) AS r(counterparty)
    JOIN counted_payment p ON p.account_id = ${opaqueAccountId(payment.accountId)}
      AND ${within(day)} AND ${isOther(payment)}
      AND (p.counterparty IN (r.counterparty, split_part(r.counterparty, '/', 3))
        OR split_part(p.counterparty, '/', 3) = r.counterparty)
    ${counts}
    GROUP BY r.counterparty`;
}

/**
 * Inserts what counts of one operation, in the statement that inserts the operation. After its
 * approval it counts for another time.
 */
export function countedPaymentsWrite(payments: readonly CountedPayment[]): Write {
  const rows = payments.map((row) => ({ ...row, amountCents: row.amountCents.toString() }));
  const sql = Prisma.sql`
    INSERT INTO counted_payment (account_id, operation_id, position, actor, counterparty,
                                 amount_cents, effective_at)
    SELECT "accountId", "operationId", position, actor, counterparty, "amountCents"::bigint,
           "effectiveAt"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      "accountId" int, "operationId" uuid, position int, actor text, counterparty text,
      "amountCents" text, "effectiveAt" timestamptz)
    ON CONFLICT (account_id, operation_id, position)
    DO UPDATE SET effective_at = EXCLUDED.effective_at`;
  return { sql, rows: rows.length };
}
