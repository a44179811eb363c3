// The reason codes of accounts, and what a decision of a person says of the money. Each change of a
// code is a version; a decision stores what its code said then.
import { Injectable } from '@nestjs/common';
import type { RouteOutput } from '../../bank-contract/route.js';
import { invalidField } from '../../platform/errors.js';
import { Database, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { toCoding, type Coding } from '../../statement/expected-payments/coding.js';
import { lockReconciliation } from '../apply/decision-writer.queries.js';
import type { BreakAction } from './breaks.schema.js';
import { maxReasonCodes, type getReasonCodes, type ReasonCodeBody } from './reason-codes.schema.js';

/** What an action may say of the money of its break. */
export type GivenCoding = Pick<Extract<BreakAction, { action: 'note' }>, 'reasonCode' | 'coding'>;

@Injectable()
export class ReasonCodes {
  constructor(private readonly database: Database) {}

  async get(accountId: number): Promise<RouteOutput<typeof getReasonCodes>> {
    const codes = await listCodes(this.database.prisma, accountId);
    return {
      data: codes.map(({ createdAt: at, ...one }) => ({ ...one, coding: toCoding(one), at })),
    };
  }

  /** Those that a decision may name. */
  async listActive(accountId: number) {
    return (await this.get(accountId)).data.filter(({ isActive }) => isActive);
  }

  async change(
    accountId: number,
    { code, name, coding, isActive, reason }: ReasonCodeBody,
    actor: string,
  ) {
    await this.database.transaction(async (tx) => {
      // Versions follow one another.
      await lockReconciliation(tx, accountId);
      const codes = await listCodes(tx, accountId);
      const last = codes.find((one) => one.code === code);
      if (!last && codes.length >= maxReasonCodes)
        throw invalidField('$.code', `An account has at most ${maxReasonCodes} reason codes.`);
      const version = (last?.version ?? 0) + 1;
      await tx.reasonCode.create({
        data: { accountId, code, version, name, ...toCoding(coding), isActive, actor, reason },
      });
    });
    return this.get(accountId);
  }
}

const listCodes = (db: Db, accountId: number) =>
  db.reasonCode.findMany({
    where: { accountId },
    distinct: ['code'],
    orderBy: [{ code: 'asc' }, { version: 'desc' }],
  });

/** For the history of the break. Throws `validation_failed` without an active code of that name. */
export async function detailOfCoding(
  tx: Tx,
  accountId: number,
  { reasonCode, coding }: GivenCoding,
): Promise<{ reasonCode?: string; coding?: Coding }> {
  if (reasonCode === undefined) return coding ? { coding: toCoding(coding) } : {};
  const found = await tx.reasonCode.findFirst({
    where: { accountId, code: reasonCode },
    orderBy: { version: 'desc' },
  });
  if (!found?.isActive)
    throw invalidField('$.reasonCode', 'Must be an active reason code of the account.');
  return { reasonCode, coding: toCoding(coding, found) };
}
