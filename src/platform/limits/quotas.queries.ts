// How many objects an account may have. An object is counted and added in one transaction.
import type { ErrorCode } from '../../bank-contract/error-codes.js';
import type { Tx } from '../postgres/database.service.js';
import { advisoryLocks } from '../postgres/advisory-locks.js';
import { conflict } from '../errors.js';

export interface Quota {
  accountId: number;
  /** 0 is no quota. */
  limit: number;
  /** The `code` of the refusal. */
  code: ErrorCode;
  /** What is counted, in the plural, for the message. */
  name: string;
}

/**
 * Throws `conflict` if the account has as many as the quota allows. Transactions that add something
 * to the account run one after the other from here.
 */
export async function assertBelowQuota(
  tx: Tx,
  { accountId, limit, code, name }: Quota,
  count: () => Promise<number>,
): Promise<void> {
  if (limit === 0) return;
  const { addWithinQuota } = advisoryLocks;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${addWithinQuota}::int, ${accountId}::int)`;
  const existing = await count();
  if (existing >= limit)
    throw conflict(code, `The account has ${existing} ${name}, and at most ${limit} are allowed.`);
}
