// The mode of each account, and who changed it, when and why. A mode takes effect in every process
// when its transaction commits: it is read from the database before each attempt, and again before
// each call, unless the account was read in the transaction that recorded its attempt just now.
import type { Db, Reader, Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type AccountModeChange } from '../../generated/service/client.js';
import { invariant, type AppError } from '../../platform/errors.js';
import { faultOfMode, registersWebhooksByDefault, type SendingRules } from './account-mode.js';

export async function readSendingRules(db: Db, accountId: number): Promise<SendingRules> {
  return db.bankAccount.findUniqueOrThrow({
    where: { id: accountId },
    select: { mode: true, registersWebhooks: true },
  });
}

/** Throws 503 `account_stopped` or 409 `account_is_reconcile_only`. */
export async function assertAccountLive(db: Db, accountId: number): Promise<void> {
  const { mode } = await readSendingRules(db, accountId);
  if (mode !== 'live') throw await readFaultOfMode(db, accountId, mode);
}

export async function readFaultOfMode(
  db: Db,
  accountId: number,
  mode: SendingRules['mode'],
): Promise<AppError> {
  const isOfAlarm = mode === 'stopped' && (await findAlarmStop(db, accountId)) !== null;
  return faultOfMode(mode, isOfAlarm);
}

export interface NewMode extends Pick<AccountModeChange, 'mode' | 'actor' | 'reason'> {
  /** Undefined: as the mode has it by default. */
  registersWebhooks: boolean | undefined;
  /** The change is about the alarm of this debit: it is recorded even if nothing else changes. */
  alarmNsu?: bigint | null;
}

/** `isNewMode` is false where only the registration of webhooks changed. */
export interface RecordedChange extends AccountModeChange {
  isNewMode: boolean;
}

/** Changes the mode and records the change. Null when the account is in this mode already. */
export async function changeMode(
  tx: Tx,
  accountId: number,
  { mode, registersWebhooks: given, actor, reason, alarmNsu = null }: NewMode,
): Promise<RecordedChange | null> {
  await lockMode(tx, accountId);
  const before = await readSendingRules(tx, accountId);
  const isSameMode = before.mode === mode;
  const registersWebhooks =
    given ??
    (isSameMode
      ? before.registersWebhooks
      : registersWebhooksByDefault(mode, before.registersWebhooks));
  const isSame = isSameMode && before.registersWebhooks === registersWebhooks;
  if (isSame && alarmNsu === null) return null;
  await tx.bankAccount.update({ where: { id: accountId }, data: { mode, registersWebhooks } });
  const last = await findLastModeChange(tx, accountId);
  const sequence = (last?.sequence ?? 0) + 1;
  const [clock] = await tx.$queryRaw<{ bankTime: Date }[]>`
    SELECT clock_timestamp()
      + COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS "bankTime"
    FROM statement_state WHERE account_id = ${accountId}`;
  invariant(clock, 'an aggregate returns a row');
  const data = { accountId, sequence, mode, formerMode: before.mode, registersWebhooks };
  const change = await tx.accountModeChange.create({
    data: { ...data, ...clock, actor, reason, alarmNsu },
  });
  return { ...change, isNewMode: !isSameMode };
}

export async function lockMode(tx: Tx, accountId: number): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM bank_account WHERE id = ${accountId} FOR NO KEY UPDATE`;
}

const serviceActor = 'service';

/**
 * Stops an account, or adds to its stop that another person must consent to its release. Null where
 * each of the lines was stored before people let alarms stop the account, or made it live again, or
 * has stopped it already: what they had before them then stops nothing later.
 */
export async function stopForAlarm(
  tx: Tx,
  accountId: number,
  lines: readonly bigint[],
): Promise<RecordedChange | null> {
  await lockMode(tx, accountId);
  const alarmNsu = await findStoppingLine(tx, accountId, lines);
  if (alarmNsu === null) return null;
  const { mode: before, registersWebhooks } = await readSendingRules(tx, accountId);
  const mode = before === 'live' ? 'stopped' : before;
  const reason = `alarm: nobody requested the debit ${alarmNsu}`;
  const change = { mode, registersWebhooks, actor: serviceActor, reason, alarmNsu };
  return changeMode(tx, accountId, change);
}

/** Whether a change of the payment controls (c) left it so that alarms stop the account. */
const stopsOnAlarm = Prisma.sql`c.details #>> '{guard,stopsOnAlarm}' = 'true'`;

async function findStoppingLine(
  tx: Tx,
  accountId: number,
  lines: readonly bigint[],
): Promise<bigint | null> {
  const [line] = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT l.nsu FROM statement_line l
    WHERE l.account_id = ${accountId} AND l.nsu = ANY (${[...lines]}::bigint[])
      AND l.recorded_at > (
        SELECT min(c.created_at) FROM payment_control_change c
        WHERE c.account_id = ${accountId} AND ${stopsOnAlarm} AND c.sequence > COALESCE((
          SELECT max(c.sequence) FROM payment_control_change c
          WHERE c.account_id = ${accountId} AND c.action = 'controls_set'
            AND ${stopsOnAlarm} IS NOT TRUE), 0))
      AND l.recorded_at > COALESCE((
        SELECT max(created_at) FROM account_mode_change
        WHERE account_id = ${accountId} AND mode = 'live' AND former_mode <> 'live'), '-infinity')
      AND NOT EXISTS (
        SELECT FROM account_mode_change
        WHERE account_id = ${accountId} AND alarm_nsu = l.nsu)
    ORDER BY l.occurred_at, l.nsu LIMIT 1`;
  return line?.nsu ?? null;
}

/** How long one person's request for a release waits for another's. */
const requestHours = 72;

export interface AlarmStop {
  alarmNsu: bigint;
  /** When the first alarm stopped it. */
  stoppedAt: Date;
  /** Who asked for the release since then. */
  requestedBy: string[];
}

/** The last alarm for which the account is stopped; null once it was live again. */
export async function findAlarmStop(db: Reader, accountId: number): Promise<AlarmStop | null> {
  const [stop] = await db.$queryRaw<AlarmStop[]>`
    SELECT stop.alarm_nsu, min(stop.created_at) OVER () AS "stoppedAt", ARRAY(
      SELECT c.actor FROM account_mode_change c
      WHERE c.account_id = ${accountId} AND c.sequence > stop.sequence
        AND c.alarm_nsu = stop.alarm_nsu
        AND c.created_at > clock_timestamp() - ${requestHours} * interval '1 hour'
      ORDER BY c.sequence
    ) AS "requestedBy"
    FROM account_mode_change stop
    WHERE stop.account_id = ${accountId} AND stop.alarm_nsu IS NOT NULL
      AND stop.actor = ${serviceActor} AND stop.sequence > COALESCE((
        SELECT max(sequence) FROM account_mode_change
        WHERE account_id = ${accountId} AND mode = 'live'), 0)
    ORDER BY stop.sequence DESC LIMIT 1`;
  return stop ?? null;
}

export async function findLastModeChange(
  db: Db,
  accountId: number,
): Promise<AccountModeChange | null> {
  return db.accountModeChange.findFirst({ where: { accountId }, orderBy: { sequence: 'desc' } });
}

/** How many accounts are in each mode. */
export async function countModes(
  db: Db,
): Promise<{ mode: SendingRules['mode']; accounts: number }[]> {
  const groups = await db.bankAccount.groupBy({ by: ['mode'], _count: true });
  return groups.map(({ mode, _count: accounts }) => ({ mode, accounts }));
}
