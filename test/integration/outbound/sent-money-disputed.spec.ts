// Debits that reference a sent payment but are not it, that arrive when no payment is expected, or
// that fit several payments.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const counterparty = '99999999/1/1000002';

describe('debits that disagree with what was sent', () => {
  let service: ServiceDatabase;
  const fixture = new SentMoneyFixture(() => service);
  const {
    run,
    enqueuedJobs,
    reconcile,
    addOperation,
    setOperationState,
    addLines,
    outcomes,
    openBreaks,
    events,
  } = fixture;

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    enqueuedJobs.length = 0;
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `a${service.accountId + 1}`, goLiveAt: new Date(0) },
    });
    service.accountId = id;
  });

  const withdraw = (expectedPaymentId: string) =>
    run(
      `INSERT INTO expected_payment_fact (account_id, expected_payment_id, kind, bank_time)
       VALUES ($1, $2, 'failed', now())`,
      service.accountId,
      expectedPaymentId,
    );
  const isWithdrawn = async (expectedPaymentId: string) => {
    const { rows } = await run(
      `SELECT withdrawn_at IS NOT NULL AS "isWithdrawn" FROM expected_payment WHERE id = $1`,
      expectedPaymentId,
    );
    return (rows[0] as { isWithdrawn: boolean }).isWithdrawn;
  };

  it.each([
    ['together', [[1, 2]]],
    ['in their order', [[1], [2]]],
    ['the later first', [[2], [1]]],
  ])('a second debit of one payment is a break when both arrive %s', async (_, batches) => {
    const { operationId, expectedPaymentId } = await addOperation({ state: 'succeeded' });
    for (const nsus of batches) {
      for (const nsu of nsus)
        await addLines({ nsu, idempotencyKey: operationId, age: 40 - 15 * nsu });
      await reconcile();
    }
    expect(await outcomes()).toMatchObject([
      { nsu: 1, outcome: 'payment by reference', expectedPaymentId },
      { nsu: 2, outcome: 'duplicate_payment' },
    ]);
    expect(await openBreaks()).toEqual([{ kind: 'duplicate_payment', subject: 'nsu:2' }]);
    expect((await events()).at(-1)).toMatchObject({
      type: 'transaction.unexpected',
      data: { breakKind: 'duplicate_payment', nsu: 2 },
    });
  });

  it('a new debit of a reversed payment is a break, and the payment stays reversed', async () => {
    const { operationId } = await addOperation({
      state: 'succeeded',
      references: [{ kind: 'end_to_end_id', value: 'E' }],
    });
    const debit = { idempotencyKey: operationId };
    await addLines(
      { nsu: 1, ...debit, age: 9 },
      { nsu: 2, isCredit: true, endToEndId: 'E', age: 8 },
    );
    await reconcile();
    await addLines({ nsu: 3, ...debit, age: 7 });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by reference' },
      { outcome: 'reversal by reversal' },
      { outcome: 'duplicate_payment' },
    ]);
  });

  it.each([['together'], ['one after another']])(
    'a second debit that the bank reverses leaves the payment settled (%s)',
    async (arrival) => {
      const { operationId } = await addOperation({
        state: 'succeeded',
        references: [{ kind: 'end_to_end_id', value: 'E' }],
      });
      const debit = { idempotencyKey: operationId, endToEndId: 'E' };
      for (const line of [
        { nsu: 1, ...debit, age: 9 },
        { nsu: 2, ...debit, age: 8 },
        { nsu: 3, isCredit: true, endToEndId: 'E', age: 7 },
      ]) {
        await addLines(line);
        if (arrival !== 'together') await reconcile();
      }
      await reconcile();
      expect(await outcomes()).toMatchObject([
        { outcome: 'payment by reference' },
        { outcome: 'duplicate_payment' },
        { outcome: 'ambiguous' },
      ]);
      expect((await events()).map(({ type }) => type)).not.toContain('transfer.reversed');
    },
  );

  it('a debit of another amount is a break, and does not prove that the operation was executed', async () => {
    const { operationId, expectedPaymentId } = await addOperation({ state: 'unknown' });
    await addLines({
      nsu: 1,
      idempotencyKey: operationId,
      amountCents: 350,
      typeName: 'DEBIT_FEE',
    });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'amount_mismatch' }]);
    expect(await events()).toMatchObject([
      { type: 'transaction.unexpected', data: { breakKind: 'amount_mismatch', amount: 3.5 } },
    ]);
    expect(enqueuedJobs.map(([name]) => name)).not.toContain('advanceOperation');
    const { rows } = await run(
      `SELECT expected_payment_id FROM break WHERE account_id = $1`,
      service.accountId,
    );
    expect(rows).toEqual([{ expected_payment_id: expectedPaymentId }]);
    await addLines({ nsu: 2, idempotencyKey: operationId });
    await reconcile();
    expect((await outcomes())[1]).toMatchObject({ outcome: 'payment by reference' });
  });

  it('a line matched by reference displaces one matched by counterparty, which is decided again', async () => {
    const references = [{ kind: 'counterparty' as const, value: counterparty }];
    const { operationId, expectedPaymentId } = await addOperation({ references });
    await addLines({ nsu: 1, counterparty, age: 4 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'payment by counterparty' }]);
    await addLines({ nsu: 2, counterparty, idempotencyKey: operationId, age: 3 });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'unexpected' },
      { outcome: 'payment by reference', expectedPaymentId },
    ]);
  });

  it('a debit of a bill that counted as failed is matched, expected again and reported as a late line', async () => {
    const { operationId, expectedPaymentId } = await addOperation({
      kind: 'pay_bill',
      state: 'succeeded',
      references: [{ kind: 'bill_code', value: 'B' }],
    });
    await withdraw(expectedPaymentId);
    await addLines({ nsu: 1, billCode: 'B' });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by reference', expectedPaymentId },
    ]);
    expect(await openBreaks()).toEqual([
      { kind: 'late_line', subject: `operation:${operationId}` },
    ]);
    expect(await isWithdrawn(expectedPaymentId)).toBe(false);
    expect(await events()).toMatchObject([{ type: 'bill_payment.settled' }]);
  });

  it('a batch item that failed but was debited is a break until it is reversed', async () => {
    const { operationId, expectedPaymentId } = await addOperation({
      kind: 'create_transfer_batch',
      state: 'succeeded',
      references: [{ kind: 'external_id', value: 'X' }],
      transferState: 'failed',
      age: 1,
    });
    await withdraw(expectedPaymentId);
    await addLines({ nsu: 1, externalId: 'X', endToEndId: 'E', age: 0 });
    await reconcile();
    const expectedBreaks = [{ kind: 'failed_but_debited', subject: `transfer:${operationId}` }];
    expect(await openBreaks()).toEqual(expectedBreaks);
    expect(await isWithdrawn(expectedPaymentId)).toBe(false);
    await addLines({ nsu: 2, isCredit: true, originalEndToEndId: 'E', endToEndId: 'D', age: 0 });
    await reconcile();
    expect((await outcomes()).map(({ outcome }) => outcome)).toEqual([
      'payment by reference',
      'reversal by reversal',
    ]);
    expect(await openBreaks()).toEqual([]);
  });

  it('a payment with an end-to-end id is matched by its counterparty when the line has no such id', async () => {
    const { expectedPaymentId } = await addOperation({
      references: [
        { kind: 'end_to_end_id', value: 'E-looked-up' },
        { kind: 'counterparty', value: counterparty },
      ],
    });
    await addLines({ nsu: 1, counterparty });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by counterparty', expectedPaymentId },
    ]);
  });

  it('a line of one bill is not pending for the payment of another bill', async () => {
    await addOperation({ kind: 'pay_bill', references: [{ kind: 'bill_code', value: 'A' }] });
    await addLines({ nsu: 1, billCode: 'B' }, { nsu: 2 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }, { outcome: 'pending' }]);
  });

  it('a line is not pending for a payment that must have been debited earlier', async () => {
    const { operationId } = await addOperation({ state: 'unknown', age: 600 });
    await addLines({ nsu: 1, age: 3 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }]);
    await setOperationState(operationId, 'sending');
    await addLines({ nsu: 2, age: 3 });
    await reconcile();
    expect((await outcomes())[1]).toMatchObject({ outcome: 'pending' });
  });
});
