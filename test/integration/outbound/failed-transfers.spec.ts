// A transfer that the bank reports as failed is expected on the statement until its debit can no
// longer appear there.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FailedTransfers } from '../../../src/outbound/transfers/failed-transfers.service.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const boundMs = 10_000;

describe('a failed transfer without a debit', () => {
  let service: ServiceDatabase;
  const { run, addOperation, addLines, reconcile, openBreaks } = new SentMoneyFixture(
    () => service,
  );

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `a${service.accountId + 1}`, goLiveAt: new Date(0) },
    });
    service.accountId = id;
    const data = { accountId: id, lastSyncStartedAt: new Date() };
    await service.database.prisma.statementState.create({ data });
  });

  const fail = async (age: number) => {
    const { expectedPaymentId } = await addOperation({
      ...{ state: 'succeeded', age, transferState: 'failed' },
      references: [{ kind: 'end_to_end_id', value: 'E' }],
    });
    await reconcile();
    return expectedPaymentId;
  };
  /** The statement is closed until so many seconds ago. */
  const close = (age: number) =>
    run(
      `UPDATE statement_state SET closed_from = now() - interval '1 day',
         closed_until = now() - $1 * interval '1 second' WHERE account_id = $2`,
      ...[age, service.accountId],
    );
  const withdraw = async (visibilityBoundMs: number | null = boundMs) => {
    const bank = { profile: { visibilityBoundMs } } as never;
    await new FailedTransfers(service.database, bank).withdrawUndebited();
    await reconcile();
  };
  const settlement = async (expectedPaymentId: string) => {
    const { accountId } = service;
    const key = { accountId_expectedPaymentId: { accountId, expectedPaymentId } };
    const total = await service.database.prisma.expectedPaymentTotal.findUnique({ where: key });
    const facts = await service.database.prisma.expectedPaymentFact.findMany({
      where: { accountId, expectedPaymentId },
      orderBy: { sequence: 'asc' },
    });
    return [total?.settlement, ...facts.map(({ kind }) => kind)];
  };

  it('is withdrawn once the statement is closed over the bound after its failure', async () => {
    const id = await fail(60);
    await withdraw();
    expect(await settlement(id)).toEqual(['open']);
    await close(55);
    await withdraw();
    expect(await settlement(id)).toEqual(['open']);
    await close(45);
    await withdraw();
    expect(await settlement(id)).toEqual(['withdrawn', 'failed']);
    await withdraw();
    expect(await settlement(id)).toEqual(['withdrawn', 'failed']);
  });

  it('stays expected where the bank has no visibility bound', async () => {
    const id = await fail(60);
    await close(1);
    await withdraw(null);
    expect(await settlement(id)).toEqual(['open']);
  });

  it('stays expected while a debit of its amount is not explained', async () => {
    const id = await fail(60);
    await addLines({ nsu: 1, age: 55 });
    await reconcile();
    await close(1);
    await withdraw();
    expect(await settlement(id)).toEqual(['open']);
  });

  it('is failed_but_debited when its debit comes after all', async () => {
    const id = await fail(60);
    await close(1);
    await withdraw();
    await addLines({ nsu: 1, endToEndId: 'E', age: 1 });
    await reconcile();
    expect(await openBreaks()).toMatchObject([{ kind: 'failed_but_debited' }]);
    expect(await settlement(id)).toEqual(['settled', 'failed', 'absence_revoked']);
  });
});
