// The mode of each account, and who changed it, when and why. A mode takes effect in every process
// when its transaction commits: it is read from the database before each attempt, and again before
// each call, unless the account was read in the transaction that recorded its attempt just now.
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import type { AccountModeChange } from '../../generated/service/client.js';
import { invariant } from '../../platform/errors.js';
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
  if (mode !== 'live') throw faultOfMode(mode);
}

export interface NewMode extends Pick<AccountModeChange, 'mode' | 'actor' | 'reason'> {
  /** Undefined: as the mode has it by default. */
  registersWebhooks: boolean | undefined;
}

/** `isNewMode` is false where only the registration of webhooks changed. */
interface RecordedChange extends AccountModeChange {
  isNewMode: boolean;
}

/** Changes the mode and records the change. Null when the account is in this mode already. */
export async function changeMode(
  tx: Tx,
  accountId: number,
  { mode, registersWebhooks: given, actor, reason }: NewMode,
): Promise<RecordedChange | null> {
  await tx.$queryRaw`SELECT 1 FROM bank_account WHERE id = ${accountId} FOR NO KEY UPDATE`;
  const before = await readSendingRules(tx, accountId);
  const isSameMode = before.mode === mode;
  const registersWebhooks =
    given ??
    (isSameMode
      ? before.registersWebhooks
      : registersWebhooksByDefault(mode, before.registersWebhooks));
  if (isSameMode && before.registersWebhooks === registersWebhooks) return null;
  await tx.bankAccount.update({ where: { id: accountId }, data: { mode, registersWebhooks } });
  const last = await findLastModeChange(tx, accountId);
  const sequence = (last?.sequence ?? 0) + 1;
  const [clock] = await tx.$queryRaw<{ bankTime: Date }[]>`
    SELECT clock_timestamp()
      + COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS "bankTime"
    FROM statement_state WHERE account_id = ${accountId}`;
  invariant(clock, 'an aggregate returns a row');
  const data = { accountId, sequence, mode, formerMode: before.mode, registersWebhooks };
  const change = await tx.accountModeChange.create({ data: { ...data, ...clock, actor, reason } });
  return { ...change, isNewMode: !isSameMode };
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
